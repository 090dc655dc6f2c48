"""A dataset record: everything known about one dataset without its data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from datasets.split import Task

Missing = Literal["none", "category", "mode", "mean"]
SourceKind = Literal["installed", "package", "openml", "uci"]
SOURCES = ("mirror", "cache", *get_args(SourceKind))
"""All kinds of sources in the order they are tried."""


@dataclass(frozen=True)
class ClassLabel:
    """One class: its name, the label texts that mean it ("*": any other), its row count."""

    name: str
    values: tuple[str, ...]
    rows: int


@dataclass(frozen=True)
class Layout:
    """How the files of one source are to be read into named columns."""

    columns: tuple[str, ...]  # all, in the order of the file
    reader: str = "delimited"  # a name of ``datasets.readers``
    separator: str = ","  # a blank stands for any run of white space
    skip: int = 0  # lines before the first row, in each file
    encoding: str = "utf-8"
    rows: int | None = None  # only the first so many are used
    recode: Mapping[str, str] = field(default_factory=dict)  # texts to replace, in every column
    recode_label: Mapping[str, str] = field(default_factory=dict)  # in the label only
    permutation: str | None = None  # a file of row numbers that bring them into the original order


@dataclass(frozen=True)
class Source:
    """One place the dataset can be had from, and how its files differ from the original.

    ``where`` is an installed package, a name in ``carriers.toml``, an OpenML id or the dataset's
    path at the UCI archive, depending on ``kind``.
    """

    kind: SourceKind
    where: str
    members: tuple[str, ...]
    layout: Layout


@dataclass(frozen=True)
class Record:
    """Everything the registry knows about a dataset without having its data."""

    slug: str
    name: str
    task: Task
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
    in_paper: bool = False
    """Whether it is one of the paper's datasets, those that ``paper.toml`` lists."""

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
