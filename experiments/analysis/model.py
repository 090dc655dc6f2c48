"""The nouns of the analysis: cells, rows, tables, sheets, verdicts and claims.

Everything here is frozen, holds unrounded numbers and knows nothing of CSV, LaTeX or HTML. A
``Table`` is one of the paper's dataset x method grids; a ``Sheet`` is any other small table. The
same types carry our results and the paper's printed ones, so that every statistic is computed by
one piece of code for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Task = Literal["binary", "multi"]
TASKS: tuple[Task, ...] = ("binary", "multi")
TASK_NAMES: dict[Task, str] = {"binary": "Binary", "multi": "Multi-class"}

Measure = Literal["test_f1", "train_f1", "tree_size", "wall_seconds"]
Setting = Literal["tuned", "default"]


@dataclass(frozen=True)
class Cell:
    """One method on one dataset, summarised over its finished trials.

    Attributes
    ----------
    mean, std : mean and population standard deviation; ``None`` without a finished trial.
    n, expected : finished trials, and trials the experiment asks for.
    missing : what is printed instead of a number (``n>12``, ``>60 min``, ``crash``, ...);
        empty where there is one, or where nothing has been run yet.
    values : the per-trial values behind ``mean`` in the order of ``trials``; empty for the
        paper's cells, of which only mean and deviation are printed.
    trials : trial numbers of ``values``.
    printed_rank : the paper's bracketed rank. It ranked unrounded means, so that where two
        printed means are equal this alone tells their order; 0 for our own cells.
    firm, refitted : trials that keep their score if their rows move by a rounding, of those that
        were fitted anew so; both 0 where none was.
    """

    mean: float | None = None
    std: float | None = None
    n: int = 0
    expected: int = 0
    missing: str = ""
    values: tuple[float, ...] = ()
    trials: tuple[int, ...] = ()
    printed_rank: int = 0
    firm: int = 0
    refitted: int = 0

    @property
    def fragile(self) -> bool:
        """Some trial ends elsewhere after a change that no reader would call one."""
        return self.firm < self.refitted

    @property
    def complete(self) -> bool:
        """Every trial finished, or it is settled that there cannot be a result."""
        return bool(self.missing) or (self.n > 0 and self.n >= self.expected)

    @property
    def partial(self) -> bool:
        """There is a number, but from fewer trials than asked for."""
        return self.mean is not None and self.n < self.expected

    @property
    def pending(self) -> bool:
        """Nothing has been run yet."""
        return self.mean is None and not self.missing


@dataclass(frozen=True)
class Statistic:
    """A summary of one method over datasets: ``value`` +- ``spread`` from ``n`` datasets."""

    value: float | None = None
    spread: float | None = None
    n: int = 0
    rank: int | None = None


@dataclass(frozen=True)
class Column:
    """A method as a column: identifier, printed name, and the group printed above it."""

    method: str
    name: str
    group: str = ""


@dataclass(frozen=True)
class Row:
    """One dataset: a cell and a bracketed rank per column of the table."""

    dataset: str
    name: str
    cells: tuple[Cell, ...]
    ranks: tuple[int | None, ...]
    """1 is best; ties in column order; ``None`` where the method has no result."""


@dataclass(frozen=True)
class Summary:
    """One summary line below a block: ``MRR``, ``MRD``, ``Mean`` or ``Wins``."""

    name: str
    statistics: tuple[Statistic, ...]
    smaller_is_better: bool = False
    decimals: int = 3
    in_paper: bool = True
    """Whether the paper prints this line below its table; ours may show more."""


@dataclass(frozen=True)
class Block:
    """The rows of one task with the summary lines below them."""

    task: Task
    rows: tuple[Row, ...]
    summaries: tuple[Summary, ...]

    def summary(self, name: str) -> Summary:
        return next(line for line in self.summaries if line.name == name)


@dataclass(frozen=True)
class Table:
    """A dataset x method grid of the paper, ours or the paper's own.

    Attributes
    ----------
    name : identifier and file stem, e.g. ``test-f1-tuned``.
    source : the protocol of the records, or ``paper, as printed``.
    decimals, std_decimals : digits the paper prints.
    """

    name: str
    title: str
    caption: str
    measure: Measure
    experiment: str
    source: str
    columns: tuple[Column, ...]
    blocks: tuple[Block, ...]
    smaller_is_better: bool = False
    decimals: int = 3
    std_decimals: int = 3
    trials: int = 10

    def block(self, task: Task) -> Block:
        return next(block for block in self.blocks if block.task == task)

    def column(self, method: str) -> int:
        """Index of a method among the columns."""
        return [column.method for column in self.columns].index(method)

    def cell(self, dataset: str, method: str) -> Cell:
        at = self.column(method)
        return next(
            row.cells[at] for block in self.blocks for row in block.rows if row.dataset == dataset
        )

    @property
    def has_results(self) -> bool:
        return any(
            cell.mean is not None
            for block in self.blocks
            for row in block.rows
            for cell in row.cells
        )

    @property
    def complete(self) -> bool:
        return all(c.complete for block in self.blocks for row in block.rows for c in row.cells)


Entry = str | int | float | Statistic | None
"""A field of a sheet; ``None`` is a gap."""


@dataclass(frozen=True)
class SheetColumn:
    """A column of a sheet: how its numbers are printed and which of them is best.

    ``kind`` is ``p`` for p-values, of which a small one is never printed as zero, and
    ``change`` for differences, which carry their sign.
    """

    name: str
    decimals: int = 3
    best: Literal["", "max", "min"] = ""
    group: str = ""
    kind: Literal["number", "p", "change"] = "number"


@dataclass(frozen=True)
class Sheet:
    """A small table that is not a dataset x method grid; the first column labels the row."""

    name: str
    title: str
    caption: str
    source: str
    columns: tuple[SheetColumn, ...]
    rows: tuple[tuple[Entry, ...], ...]
    notes: tuple[str, ...] = ()
    best_in_row: Literal["", "max", "min"] = ""
    """Where methods are columns, the best number of each row is set in bold."""


Outcome = Literal["exact", "equivalent", "undecided", "better", "worse", "missing"]
OUTCOMES: tuple[Outcome, ...] = (
    "exact",
    "equivalent",
    "undecided",
    "better",
    "worse",
    "missing",
)


@dataclass(frozen=True)
class Verdict:
    """One cell of one table beside the paper's.

    Attributes
    ----------
    table, task, dataset, method : which cell (identifiers, not printed names).
    difference : ours minus the paper's, at full precision of ours.
    p_value, p_adjusted : of the test that the two means are equal, before and after the
        correction for the many cells of the table; ``None`` where no test was needed.
    p_equivalent : of the test that they differ by more than the margin.
    outcome : ``exact`` (mean and deviation equal as printed), ``better`` or ``worse``
        (significantly different, in the table's own direction), ``equivalent`` (shown to lie
        within the margin), ``undecided`` (neither), ``missing`` (one side has no number).
    """

    table: str
    task: Task
    dataset: str
    method: str
    ours: Cell
    paper: Cell
    difference: float | None
    p_value: float | None
    p_adjusted: float | None
    outcome: Outcome
    note: str = ""
    p_equivalent: float | None = None


ClaimOutcome = Literal["holds", "holds as printed only", "does not hold", "cannot be told"]
CLAIM_OUTCOMES: tuple[ClaimOutcome, ...] = (
    "holds",
    "holds as printed only",
    "does not hold",
    "cannot be told",
)


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper's results section, checked.

    ``sentence`` is our wording of it, ``where`` the part of the paper it is from.
    ``ours`` and ``paper`` are the same numbers computed from our records and from the
    paper's printed cells; ``in_paper`` is the outcome of the check on the latter. A claim that
    ``holds as printed only`` is true of what the authors' program does and not of what the
    sentence says. ``trials`` are the fewest behind a cell that was looked at.
    """

    slug: str
    sentence: str
    where: str
    outcome: ClaimOutcome
    ours: str
    in_paper: ClaimOutcome
    paper: str
    note: str = ""
    trials: int = 10


@dataclass(frozen=True)
class Inconsistency:
    """A printed figure that contradicts what the printed cells give, ``recomputed``.

    ``field`` is ``value``, ``spread`` or ``rank`` of a summary line, or ``rank`` or ``missing``
    of a cell; then ``dataset`` is set and ``statistic`` empty.
    """

    table: str
    task: Task
    method: str
    field: str
    printed: str
    recomputed: str
    reason: str
    statistic: str = ""
    dataset: str = ""
