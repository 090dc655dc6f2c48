"""Read a dataset record from its TOML file and check it. Unknown keys are errors.

What a file of ``records/`` may say, besides the fields of ``Record`` and, for the original
files, of ``Layout`` (both in ``record.py``):

- ``features`` in the order used, or ``drop``: the columns left out besides the label;
- ``categorical`` columns, or ``numeric``: the only ones that are not categorical;
- ``classes`` in order, each with the label texts that mean it (its name always does);
  none in a regression, whose label holds numbers;
- ``files``: the original files with their SHA-256;
- ``sources`` in the order tried: a ``Source`` each, with what differs from the original
  layout; ``label_last`` says that only the label stands elsewhere;
- ``"pixel 1..36"`` in a list of columns stands for 36 of them.
"""

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

from datasets.errors import RecordError, told
from datasets.files import read_file
from datasets.record import ClassLabel, Layout, Missing, Record, Source, SourceKind
from datasets.split import Task

LARGEST_RECORD = 2**20
SLUG = re.compile("[a-z0-9]+(-[a-z0-9]+)*")
_RANGE = re.compile(r"(?P<stem>.*?)(?P<first>\d+)\.\.(?P<last>\d+)")
_COUNTS = {"n_rows", "n_features", "skip", "rows"}
_LISTS = {"columns", "features", "drop", "categorical", "numeric", "members", "values"}
_TABLES = {"files", "recode", "recode_label"}
_TABLE_LISTS = {"classes", "sources"}
_LAYOUT_KEYS = {entry.name for entry in fields(Layout)}
_SOURCE_KEYS = {"kind", "where", "members", "label_last"} | _LAYOUT_KEYS
_AS_THEY_ARE = {"name", "n_rows", "n_features", "content_hash", "label", "files"}
_AS_THEY_ARE |= {"citation", "licence", "link", "note"}
_RECORD_KEYS = {"task", "missing", "features", "drop", "categorical", "numeric"}
_RECORD_KEYS |= {"classes", "sources"} | _AS_THEY_ARE | _LAYOUT_KEYS
_REQUIRED = _AS_THEY_ARE - {"note"} | {"task", "columns"}


def read_record(path: Path, papers: Sequence[str] = ()) -> Record:
    """Read and check one record file; ``papers`` are the slugs of the paper's datasets.

    Whatever is wrong with the file is a ``RecordError``.
    """
    try:
        facts = tomllib.loads(read_file(path, LARGEST_RECORD).decode())
        return parse_record(path.stem, facts, papers)
    except RecordError:
        raise
    except Exception as error:  # unreadable, not TOML, or wrong in a way not foreseen below
        raise RecordError(f"{path.name}: {told(error)}") from error


def parse_record(slug: str, facts: Mapping[str, Any], papers: Sequence[str] = ()) -> Record:
    """Turn the facts of one TOML file into a :class:`Record`."""
    if not SLUG.fullmatch(slug):
        raise RecordError(f"{slug!r}: a record is called by lower-case words joined by hyphens")
    _check_keys(facts, _RECORD_KEYS, _REQUIRED, slug)
    if {"features", "drop"} <= set(facts) or {"categorical", "numeric"} <= set(facts):
        raise RecordError(f"{slug}: give either features or drop, either categorical or numeric")
    layout = _layout(facts, None)
    left_out = {facts["label"], *expand(facts.get("drop", []))}
    features = expand(facts.get("features", [c for c in layout.columns if c not in left_out]))
    numbers = {*expand(facts.get("numeric", features))}
    categorical = expand(facts.get("categorical", [f for f in features if f not in numbers]))
    sources = [_source(slug, entry, layout, facts) for entry in facts.get("sources", [])]
    classes = []
    for entry in facts.get("classes", []):
        _check_keys(entry, {"name", "values", "rows"}, {"name", "rows"}, f"{slug}, classes")
        texts = tuple(entry.get("values", [entry["name"]]))
        classes.append(ClassLabel(entry["name"], texts, entry["rows"]))
    record = Record(
        slug=slug,
        task=_choice(facts["task"], Task, slug),
        missing=_choice(facts.get("missing", "none"), Missing, slug),
        features=features,
        categorical=categorical,
        classes=tuple(classes),
        layout=layout,
        sources=tuple(sources),
        in_paper=slug in papers,
        **{key: facts[key] for key in _AS_THEY_ARE & set(facts)},
    )
    if problems := _inconsistent(record):
        raise RecordError(f"{slug}: {'; '.join(problems)}")
    return record


def _inconsistent(record: Record) -> list[str]:
    """What the facts of a record say against each other."""
    problems = []
    if len(record.features) != record.n_features:
        problems.append(f"{len(record.features)} features named, {record.n_features} expected")
    tasks = {0: "regression", 1: "", 2: "binary"}
    if record.task != tasks.get(record.n_classes, "multi"):
        problems.append(f"{record.n_classes} classes in a {record.task} task")
    if record.classes and sum(record.class_counts) != record.n_rows:
        problems.append(f"classes add up to {sum(record.class_counts)} rows, not {record.n_rows}")
    for what, names in (("class", record.class_names), ("column", record.layout.columns)):
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            problems.append(f"{what} {', '.join(repeated)} named twice")
    if record.label in record.features:
        problems.append(f"the label {record.label} is among the features")
    used = {*record.features, record.label}
    lacking = {f"source {each.where}: ": used - {*each.layout.columns} for each in record.sources}
    lacking[""] = used - {*record.layout.columns} | {*record.categorical} - {*record.features}
    for where, absent in lacking.items():
        if absent:
            problems.append(f"{where}no column {', '.join(sorted(absent))}")
    return problems


def _layout(facts: Mapping[str, Any], base: Layout | None) -> Layout:
    given = {key: facts[key] for key in _LAYOUT_KEYS & set(facts)}
    if "columns" in given:
        given["columns"] = expand(given["columns"])
    return replace(base, **given) if base else Layout(**given)


def _source(slug: str, entry: Mapping[str, Any], base: Layout, facts: Mapping[str, Any]) -> Source:
    _check_keys(entry, _SOURCE_KEYS, {"kind", "where"}, f"{slug}, sources")
    if entry.get("label_last"):
        others = [column for column in base.columns if column != facts["label"]]
        base = replace(base, columns=(*others, facts["label"]))
    return Source(
        kind=_choice(entry["kind"], SourceKind, slug),
        where=str(entry["where"]),
        members=tuple(entry.get("members", facts["files"])),
        layout=_layout(entry, base),
    )


def expand(names: Sequence[str]) -> tuple[str, ...]:
    """Write out ranges: ``"pixel 1..3"`` stands for pixel 1, pixel 2, pixel 3."""
    written: list[str] = []
    for name in names:
        if match := _RANGE.fullmatch(name):
            numbers = range(int(match["first"]), int(match["last"]) + 1)
            written += [f"{match['stem']}{number}" for number in numbers]
        else:
            written.append(name)
    return tuple(written)


def _choice(value: str, choices: Any, slug: str) -> Any:
    if value not in get_args(choices):
        raise RecordError(f"{slug}: {value!r} is none of {', '.join(get_args(choices))}")
    return value


def _check_keys(
    facts: Mapping[str, Any], allowed: set[str], required: set[str], where: str
) -> None:
    """Only known keys, all that are required, each with a value of its type."""
    for key, value in facts.items():
        if key not in allowed:
            near = difflib.get_close_matches(key, allowed, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise RecordError(f"{where}: unknown key {key!r}{hint}")
        if expected := _expected(key, value):
            raise RecordError(f"{where}: {key} must be {expected}")
    if absent := sorted(required - set(facts)):
        raise RecordError(f"{where}: missing {', '.join(absent)}")


def _expected(key: str, value: Any) -> str:
    """What a value should have been, empty if it is that."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    texts = all(isinstance(each, str) for each in inside)
    if key == "label_last":
        return "" if isinstance(value, bool) else "true or false"
    if key in _COUNTS:
        return "" if type(value) is int and value >= 0 else "a number from 0"
    if key in _LISTS:
        return "" if isinstance(value, list) and texts else "a list of texts"
    if key in _TABLES:
        return "" if isinstance(value, dict) and texts else "a table of texts"
    if key in _TABLE_LISTS:
        tables = isinstance(value, list) and all(isinstance(each, dict) for each in inside)
        return "" if tables else "a list of tables"
    return "" if isinstance(value, str) else "a text"
