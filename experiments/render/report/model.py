"""The nouns of the report: everything the page shows, before any formatting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from experiments.analysis.model import Claim, Sheet, Table, Verdict
from experiments.analysis.verifying import Repeats

if TYPE_CHECKING:  # `tables` uses these nouns and draws nothing
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class ComparedTable:
    """A dataset x method table as measured, with the verdict on each cell.

    ``verdicts`` is empty where the paper prints no such table, as for the
    protocol without the label leak. ``counted`` is false where the figures
    depend on the machine, so that agreement is shown but not counted.
    """

    ours: Table
    verdicts: tuple[Verdict, ...] = ()
    counted: bool = True

    @property
    def name(self) -> str:
        return f"{self.ours.name}-{self.ours.source}"

    def verdict(self, dataset: str, method: str) -> Verdict | None:
        return self._by_cell.get((dataset, method))

    @cached_property
    def _by_cell(self) -> Mapping[tuple[str, str], Verdict]:
        return {(verdict.dataset, verdict.method): verdict for verdict in self.verdicts}


@dataclass(frozen=True)
class DatasetPage:
    """One dataset's section. ``trees`` are stored drawings, see ``payload``."""

    slug: str
    name: str
    task: str
    rows: int
    features: int
    class_counts: tuple[int, ...]
    trees: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Failure:
    """Runs of one cell that ended in the same way without a score."""

    protocol: str
    experiment: str
    dataset: str
    method: str
    status: str
    reason: str
    trials: tuple[int, ...]
    detail: str = ""


@dataclass(frozen=True)
class FigureEntry:
    """A figure of the gallery: inline SVG with the sentence beneath it."""

    name: str
    title: str
    caption: str
    svg: str
    on_white: bool = False
    """Its colours mean something on white only: it keeps a white ground in the dark."""


@dataclass(frozen=True)
class EnvironmentEntry:
    """A machine with its library versions, and how many of the shown runs it made."""

    name: str
    runs: int
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Totals:
    """What was spent: runs recorded, how they ended, processor and wall-clock hours.

    ``made`` and ``planned`` count distinct jobs of the store's plan, as ``status`` does.
    """

    runs: int
    by_status: tuple[tuple[str, int], ...]
    cpu_hours: float
    wall_hours: float
    made: int = 0
    planned: int = 0


@dataclass(frozen=True)
class Section:
    """A finding told in sentences, with the sheets that carry its numbers."""

    slug: str
    title: str
    paragraphs: tuple[str, ...]
    points: tuple[str, ...] = ()
    """What was found, one sentence each."""
    sheets: tuple[Sheet, ...] = ()
    figures: tuple[str, ...] = ()
    """Names of figures of the gallery that are shown here instead of there."""


@dataclass(frozen=True)
class SheetGroup:
    """Sheets offered together beside the tables."""

    title: str
    sheets: tuple[Sheet, ...]


@dataclass(frozen=True)
class ReportData:
    """The whole report."""

    tables: tuple[ComparedTable, ...]
    sheet_groups: tuple[SheetGroup, ...]
    claims: tuple[Claim, ...]
    datasets: tuple[DatasetPage, ...]
    figures: tuple[FigureEntry, ...] = ()
    sections: tuple[Section, ...] = ()
    failures: tuple[Failure, ...] = ()
    superseded: tuple[str, ...] = ()
    """Records that no table uses any more, counted by the reason why."""
    environments: tuple[EnvironmentEntry, ...] = ()
    totals: Totals = field(default=Totals(0, (), 0.0, 0.0))
    method_names: Mapping[str, str] = field(default_factory=dict)
    run_options: str = ""
    """What the commands that repeat a cell need besides, e.g. `` --params ours``."""
    verdict_test: str = ""
    """The tests behind the verdicts, in a sentence or two."""
    first: Section | None = None
    """What stands before everything else: GradTree against CART."""
    repeats: Repeats | None = None
    """Fits of this store beside the committed ones; ``None`` for these themselves."""


@dataclass(frozen=True)
class Plate:
    """A figure with its name (also its file's stem), title and caption."""

    name: str
    title: str
    caption: str
    figure: Figure
    on_white: bool = False
