"""A dataset record: the facts about one dataset, read from TOML. Unknown keys are errors.

What a file of ``records/`` may say, besides the fields of :class:`Record` and, for the
original files, of :class:`Layout`:

- ``features`` in the order used, or ``drop``: the columns left out besides the label;
- ``categorical`` columns, or ``numeric``: the only ones that are not categorical;
- ``classes`` in order, each with the label texts that mean it (its name always does);
- ``files``: the original files with their SHA-256;
- ``sources`` in the order tried: a :class:`Source` each, with what differs from the original
  layout; ``label_last`` says that only the label stands elsewhere;
- ``"pixel 1..36"`` in a list of columns stands for 36 of them.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from datasets.errors import RecordError
from datasets.split import Task

Missing = Literal["none", "category", "mode", "mean"]
SourceKind = Literal["installed", "package", "openml", "uci"]
SOURCES = ("mirror", "cache", *get_args(SourceKind))
"""All kinds of sources in the order they are tried."""
_RANGE = re.compile(r"(?P<stem>.*?)(?P<first>\d+)\.\.(?P<last>\d+)")


@dataclass(frozen=True)
class ClassLabel:
    """One class: its name, the label texts that mean it ("*": any other), its row count."""

    name: str
    values: tuple[str, ...]
    rows: int


@dataclass(frozen=True)
class Layout:
    """How the files of one source are to be read into named columns.

    Attributes
    ----------
    columns : names of all columns in the order of the file.
    reader : name of the reader in ``datasets.readers``.
    separator : between cells; a blank stands for any run of white space.
    skip : lines before the first row, in each file.
    encoding : of the text.
    rows : only the first so many rows are used (``None``: all).
    recode, recode_label : texts to replace, in every column or in the label only.
    permutation : name of a file of row numbers that bring the rows into the original order.
    """

    columns: tuple[str, ...]
    reader: str = "delimited"
    separator: str = ","
    skip: int = 0
    encoding: str = "utf-8"
    rows: int | None = None
    recode: Mapping[str, str] = field(default_factory=dict)
    recode_label: Mapping[str, str] = field(default_factory=dict)
    permutation: str | None = None


@dataclass(frozen=True)
class Source:
    """One place the dataset can be had from, and how its files differ from the original.

    ``where`` is the archive's name in ``carriers.toml``, an installed package, an OpenML
    id or the dataset's path at the UCI archive, depending on ``kind``.
    """

    kind: SourceKind
    where: str
    members: tuple[str, ...]
    layout: Layout
    exercised: bool


@dataclass(frozen=True)
class Record:
    """Everything the registry knows about a dataset without having its data."""

    slug: str
    name: str
    task: Task
    number: int
    n_rows: int
    n_features: int
    content_hash: str
    missing: Missing
    label: str
    features: tuple[str, ...]
    categorical: tuple[str, ...]
    classes: tuple[ClassLabel, ...]
    files: Mapping[str, str]
    layout: Layout
    sources: tuple[Source, ...]
    citation: str
    licence: str
    link: str
    note: str = ""

    @property
    def class_names(self) -> tuple[str, ...]:
        return tuple(label.name for label in self.classes)

    @property
    def class_counts(self) -> tuple[int, ...]:
        """Rows per class, a missing label counted as the most frequent class."""
        return tuple(label.rows for label in self.classes)

    @property
    def n_classes(self) -> int:
        return len(self.classes)


_LAYOUT_KEYS = {entry.name for entry in fields(Layout)}
_SOURCE_KEYS = {"kind", "where", "members", "exercised", "label_last"} | _LAYOUT_KEYS
_CLASS_KEYS = {"name", "values", "rows"}
_RECORD_KEYS = (
    {entry.name for entry in fields(Record)} - {"slug", "layout"}
    | {"drop", "numeric"}
    | _LAYOUT_KEYS
)
_REQUIRED = {"name", "task", "number", "n_rows", "n_features", "content_hash", "label", "columns"}
_REQUIRED |= {"classes", "files", "citation", "licence", "link"}


def read_record(path: Path) -> Record:
    """Read and check one record file."""
    try:
        facts = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise RecordError(f"{path.name}: {error}") from error
    return parse_record(path.stem, facts)


def parse_record(slug: str, facts: Mapping[str, Any]) -> Record:
    """Turn the facts of one TOML file into a :class:`Record`."""
    _only(facts, _RECORD_KEYS, slug)
    if absent := sorted(_REQUIRED - set(facts)):
        raise RecordError(f"{slug}: missing {', '.join(absent)}")
    if {"features", "drop"} <= set(facts) or {"categorical", "numeric"} <= set(facts):
        raise RecordError(f"{slug}: give either features or drop, either categorical or numeric")
    layout = _layout(facts, None)
    features = _features(facts, layout.columns)
    record = Record(
        slug=slug,
        name=facts["name"],
        task=_choice(facts["task"], Task, slug),
        number=facts["number"],
        n_rows=facts["n_rows"],
        n_features=facts["n_features"],
        content_hash=facts["content_hash"],
        missing=_choice(facts.get("missing", "none"), Missing, slug),
        label=facts["label"],
        features=features,
        categorical=_categorical(facts, features),
        classes=tuple(_class(slug, entry) for entry in facts["classes"]),
        files=dict(facts["files"]),
        layout=layout,
        sources=tuple(_source(slug, entry, layout, facts) for entry in facts.get("sources", [])),
        citation=facts["citation"],
        licence=facts["licence"],
        link=facts["link"],
        note=facts.get("note", ""),
    )
    _consistent(record)
    return record


def _consistent(record: Record) -> None:
    problems = []
    if len(record.features) != record.n_features:
        problems.append(f"{len(record.features)} features named, {record.n_features} expected")
    if sum(record.class_counts) != record.n_rows:
        problems.append(f"classes add up to {sum(record.class_counts)} rows, not {record.n_rows}")
    if (record.n_classes == 2) != (record.task == "binary"):
        problems.append(f"{record.n_classes} classes in a {record.task} task")
    for source in record.sources:
        columns = set(source.layout.columns)
        unknown = (set(record.features) | {record.label}) - columns
        if unknown:
            problems.append(f"source {source.where}: no column {', '.join(sorted(unknown))}")
    stray = (set(record.features) | {record.label}) - set(record.layout.columns)
    stray |= set(record.categorical) - set(record.features)
    if stray:
        problems.append(f"no column {', '.join(sorted(stray))}")
    if problems:
        raise RecordError(f"{record.slug}: {'; '.join(problems)}")


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


def _class(slug: str, entry: Mapping[str, Any]) -> ClassLabel:
    _only(entry, _CLASS_KEYS, f"{slug}, classes")
    return ClassLabel(entry["name"], tuple(entry.get("values", [entry["name"]])), entry["rows"])


def _layout(facts: Mapping[str, Any], base: Layout | None) -> Layout:
    given = {key: facts[key] for key in _LAYOUT_KEYS & set(facts)}
    if "columns" in given:
        given["columns"] = expand(given["columns"])
    return replace(base, **given) if base else Layout(**given)


def _source(slug: str, entry: Mapping[str, Any], base: Layout, facts: Mapping[str, Any]) -> Source:
    _only(entry, _SOURCE_KEYS, f"{slug}, sources")
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
            written += [f"{match['stem']}{number}" for number in numbers]
        else:
            written.append(name)
    return tuple(written)


def _choice(value: str, choices: Any, slug: str) -> Any:
    if value not in get_args(choices):
        raise RecordError(f"{slug}: {value!r} is none of {', '.join(get_args(choices))}")
    return value


def _only(facts: Mapping[str, Any], allowed: set[str], where: str) -> None:
    for key in facts:
        if key not in allowed:
            near = difflib.get_close_matches(key, allowed, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise RecordError(f"{where}: unknown key {key!r}{hint}")
