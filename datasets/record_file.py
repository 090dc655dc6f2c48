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

import codecs
import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

from datasets.errors import RecordError, told
from datasets.files import read_file, stays_inside
from datasets.record import ClassLabel, Layout, Missing, Record, Source, SourceKind
from datasets.split import Task

LARGEST_RECORD = 2**20
MOST_COLUMNS = 10_000
SLUG = re.compile("[a-z0-9]+(-[a-z0-9]+)*")
_SHA256 = re.compile("[0-9a-f]{64}")
_RANGE = re.compile(r"(?P<stem>.*?)(?P<first>\d{1,9})\.\.(?P<last>\d{1,9})")
_WHERE = {
    "installed": re.compile(r"[A-Za-z_]\w*"),
    "package": re.compile(r"[a-z0-9][a-z0-9._-]*"),
    "openml": re.compile(r"\d+"),
    "uci": re.compile(r"\d+/[\w+.%()-]+"),
}
_TEXTS = {"name", "task", "content_hash", "missing", "label", "citation", "licence", "link", "note"}
_TEXTS |= {"reader", "separator", "encoding", "permutation", "kind"}
_COUNTS = {"n_rows", "n_features", "skip", "rows"}
_LISTS = {"columns", "features", "drop", "categorical", "numeric", "members", "values"}
_TABLES = {"files", "recode", "recode_label"}
_FLAGS = {"in_paper", "exercised", "label_last"}
_LAYOUT_KEYS = {entry.name for entry in fields(Layout)}
_SOURCE_KEYS = {"kind", "where", "members", "exercised", "label_last"} | _LAYOUT_KEYS
_AS_THEY_ARE = {"name", "n_rows", "n_features", "content_hash", "label", "files"}
_AS_THEY_ARE |= {"citation", "licence", "link", "note"}
_RECORD_KEYS = (
    {entry.name for entry in fields(Record)} - {"slug", "layout"}
    | {"drop", "numeric"}
    | _LAYOUT_KEYS
)
_REQUIRED = {"name", "task", "n_rows", "n_features", "content_hash", "label", "columns"}
_REQUIRED |= {"files", "citation", "licence", "link"}


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
    if facts.get("in_paper", slug in papers) != (slug in papers):
        raise RecordError(
            f"{slug}: in_paper = {str(facts['in_paper']).lower()}, but paper.toml "
            f"{'lists' if slug in papers else 'does not list'} it"
        )
    layout = _layout(facts, None)
    features = _features(facts, layout.columns)
    sources = [_source(slug, entry, layout, facts) for entry in _tables(facts, "sources", slug)]
    classes = []
    for entry in _tables(facts, "classes", slug):
        _check_keys(entry, {"name", "values", "rows"}, {"name", "rows"}, f"{slug}, classes")
        texts = tuple(entry.get("values", [entry["name"]]))
        classes.append(ClassLabel(entry["name"], texts, entry["rows"]))
    record = Record(
        slug=slug,
        task=_choice(facts["task"], Task, slug),
        missing=_choice(facts.get("missing", "none"), Missing, slug),
        features=features,
        categorical=_categorical(facts, features),
        classes=tuple(classes),
        layout=layout,
        sources=tuple(sources),
        in_paper=slug in papers,
        **{key: facts[key] for key in _AS_THEY_ARE & set(facts)},
    )
    if problems := [*_inconsistent(record), *_unsafe(record)]:
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


def _unsafe(record: Record) -> list[str]:
    """Names that would leave their folder, hashes that are none, and the like."""
    problems = []
    names = [(name, "file") for name in record.files]
    for source in record.sources:
        names += [(part, "member") for member in source.members for part in member.split("!")]
        if not _WHERE[source.kind].fullmatch(source.where):
            problems.append(f"{source.where!r} names no {source.kind} source")
    for layout in (record.layout, *(source.layout for source in record.sources)):
        names += [(layout.permutation, "permutation")] if layout.permutation else []
        try:
            codecs.lookup(layout.encoding)
        except (LookupError, ValueError):
            problems.append(f"unknown encoding {layout.encoding!r}")
    problems += [
        f"{what} {name!r} leaves its folder" for name, what in names if not stays_inside(name)
    ]
    hashes = [record.content_hash, *record.files.values()]
    problems += [f"{text!r} is no SHA-256" for text in hashes if not _SHA256.fullmatch(text)]
    return problems


def _features(facts: Mapping[str, Any], columns: Sequence[str]) -> tuple[str, ...]:
    if "features" in facts:
        return expand(facts["features"])
    unused = {facts["label"], *expand(facts.get("drop", []))}
    return tuple(column for column in columns if column not in unused)


def _categorical(facts: Mapping[str, Any], features: Sequence[str]) -> tuple[str, ...]:
    if "numeric" in facts:
        numbers = set(expand(facts["numeric"]))
        return tuple(feature for feature in features if feature not in numbers)
    return expand(facts.get("categorical", []))


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
        exercised=entry.get("exercised", True),
    )


def expand(names: Sequence[str]) -> tuple[str, ...]:
    """Write out ranges: ``"pixel 1..3"`` stands for pixel 1, pixel 2, pixel 3."""
    written: list[str] = []
    for name in names:
        if match := _RANGE.fullmatch(name):
            numbers = range(int(match["first"]), int(match["last"]) + 1)
            if len(numbers) > MOST_COLUMNS:
                raise RecordError(f"{name!r} stands for more than {MOST_COLUMNS} columns")
            written += [f"{match['stem']}{number}" for number in numbers]
        else:
            written.append(name)
    return tuple(written)


def _choice(value: str, choices: Any, slug: str) -> Any:
    if value not in get_args(choices):
        raise RecordError(f"{slug}: {value!r} is none of {', '.join(get_args(choices))}")
    return value


def _tables(facts: Mapping[str, Any], key: str, slug: str) -> list[Mapping[str, Any]]:
    entries = facts.get(key, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise RecordError(f"{slug}: {key} must be a list of tables")
    return entries


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
    texts = isinstance(value, list | dict) and all(isinstance(text, str) for text in value)
    if isinstance(value, dict):
        texts = texts and all(isinstance(text, str) for text in value.values())
    checks = (
        (_TEXTS, isinstance(value, str), "a text"),
        (_FLAGS, isinstance(value, bool), "true or false"),
        (_COUNTS, type(value) is int and 0 <= value < 2**31, "a number from 0"),
        (_LISTS, isinstance(value, list) and texts, "a list of texts"),
        (_TABLES, isinstance(value, dict) and texts, "a table of texts"),
    )
    return next((wanted for keys, right, wanted in checks if key in keys and not right), "")
