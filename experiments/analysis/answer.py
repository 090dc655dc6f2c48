"""What a question of the results returns: a title, sentences, tables and a figure.

Tables hold unrounded numbers in pandas frames and know nothing of CSV, LaTeX or HTML.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from experiments.analysis.printed import SCOPES
from experiments.runs.schema import BY_NAME

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


@dataclass(frozen=True)
class Format:
    """How the numbers of one column are shown: ``change`` has its sign, ``p`` is never shown as
    zero, ``count`` is whole. ``best`` is set in bold.
    """

    decimals: int = 3
    kind: Literal["number", "change", "p", "count", "text"] = "number"
    best: Literal["", "max", "min"] = ""


@dataclass(frozen=True)
class Table:
    """A table of results: ``frame`` is what the CSV holds, its first column labels the lines.

    ``name`` is the file's stem; ``protocol`` is whose runs it shows, and the folder of its files,
    empty for several. With ``best_in_row`` the best number of a row is bold. What stands before
    ``: `` in the name of a column is a heading above it and its neighbours.
    """

    name: str
    title: str
    caption: str
    frame: pd.DataFrame
    protocol: str = ""
    formats: Mapping[str, Format] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    best_in_row: Literal["", "max", "min"] = ""


@dataclass(frozen=True, kw_only=True)
class Declared:
    """A dataset x method table as declared; ``grids.toml`` explains the fields."""

    name: str
    title: str
    experiment: str
    metric: str
    caption: str = ""
    methods: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    summaries: tuple[str, ...] = ("Mean", "MRR")
    printed: tuple[str, ...] = ()
    mean_spread: str = "datasets"
    mean_omits: tuple[str, ...] = ()
    shared: bool = True
    decimals: int = 3
    std_decimals: int = None  # type: ignore[assignment]
    summary_decimals: int = None  # type: ignore[assignment]
    smaller_is_better: bool = None  # type: ignore[assignment]
    split_by_task: bool = False
    machine_dependent: bool = False
    margin: float | None = None

    def __post_init__(self) -> None:
        """What is not declared follows from the rest."""
        better = BY_NAME[self.metric].better if self.metric in BY_NAME else ""
        rest = {"caption": self.title, "printed": self.summaries, "std_decimals": self.decimals}
        rest |= {"summary_decimals": self.decimals, "smaller_is_better": better == "low"}
        for name, value in rest.items():
            if getattr(self, name) in ("", (), None):
                object.__setattr__(self, name, value)


@dataclass(frozen=True, kw_only=True)
class Grid(Declared):
    """A dataset x method table that is filled.

    ``frame`` has a line per cell: task, dataset, method, mean, std, n, expected, rank, missing and,
    where the paper prints the cell, paper_mean, paper_std, paper_missing, verdict; ``summary`` one
    per task, statistic (Mean, MRR, MRD, Wins) and method.
    """

    protocol: str
    frame: pd.DataFrame
    summary: pd.DataFrame
    trials: int = 10


@dataclass(frozen=True)
class Figure:
    """A figure: drawn when it is written, into PNG, SVG and PDF."""

    name: str
    caption: str
    draw: Callable[[], Drawing]


@dataclass(frozen=True)
class Answer:
    """The answer to one question of the results, a section of report and README.

    ``question`` is a slug and the anchor of the section, ``title`` the question as a reader asks
    it. The first of the ``sentences`` (Markdown) alone is enough. ``shown`` names the tables that
    the section shows, if not all; the others are only files.
    """

    question: str
    title: str
    sentences: Sequence[str]
    tables: Sequence[Table | Grid] = ()
    figures: Sequence[Figure] = ()
    shown: Sequence[str] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def shows(self, table: Table | Grid) -> bool:
        return not self.shown or table.name in self.shown


@cache
def _declared() -> dict[str, dict[str, Any]]:
    path = Path(__file__).parent / "questions" / "tables.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _listed(table: str) -> dict[str, Any]:
    """Names of columns -> the key under which they are listed."""
    return {name: key for key, names in _declared()[table].items() for name in names}


def table(
    name: str,
    frame: pd.DataFrame,
    names: Callable[[str], str] = str,
    protocol: str = "",
    declared: str = "",
    **words: str,
) -> Table:
    """A table as ``tables.toml`` declares it, under ``declared`` if not its own name; ``names`` are
    those of learners, ``words`` stand in braces in its title and caption.
    """
    entry = dict(_declared()[declared or name])
    entry |= {key: entry[key].format(**words) for key in ("title", "caption") if words}
    formats, columns = entry.pop("formats", {}), entry.pop("columns", None)
    entry["notes"] = tuple(entry.get("notes", ()))
    if columns is not None:
        shared = {key: _declared()["columns"][key] for key in columns if columns[key] == "*"}
        flat = [each for key in columns for each in shared.get(key, {key: columns[key]}).items()]
        frame = frame.reindex(columns=list(dict(flat)))  # all there, though nothing has been run
        slugs = {key: names for key in ("method", "against") if key in columns}
        slugs |= {"scope": SCOPES.__getitem__} if "scope" in columns else {}
        frame = frame.assign(**{key: frame[key].map(of) for key, of in slugs.items()})
        frame = frame.rename(columns=dict(flat))
    kinds, decimals = _listed("kinds"), _listed("decimals")
    parts = {str(column): str(column).rpartition(": ") for column in frame}
    signed = any(kinds.get(short) == "change" for *_, short in parts.values())
    made = {}
    for column, (group, _, short) in parts.items():
        limit = signed and short in ("low", "high")
        plain = {"kind": "change" if limit else kinds.get(short, "number")}
        plain["decimals"] = int(decimals.get(group, decimals.get(short, 3)))
        given = formats.get(group) or formats.get(short) or formats.get("*", {})
        made[column] = Format(**{**plain, **given})
    return Table(name=name, frame=frame, protocol=protocol, formats=made, **entry)


def tables(
    frames: Mapping[str, pd.DataFrame], names: Callable[[str], str] = str, protocol: str = ""
) -> list[Table]:
    """The tables of frames that have lines."""
    return [table(name, own, names, protocol) for name, own in frames.items() if len(own)]


def figure(name: str, draw: Callable[[], Any], caption: str = "") -> Figure:
    """A figure that is drawn once, in the one look of all, with the caption of ``tables.toml``."""

    @cache
    def drawn() -> Any:
        from experiments.analysis.drawing import look  # imports Matplotlib

        with look():
            return draw()

    return Figure(name, caption or _declared()["figures"][name], drawn)
