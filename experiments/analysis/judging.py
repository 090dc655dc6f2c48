"""A verdict on every cell: is our figure the paper's, as good as the paper's, or not?

The tests
---------
Two means of ten trials, of which the paper prints mean and population
deviation. Each population variance s^2 is first made a sample variance,
s^2 n / (n - 1).

*Different?* Welch's t-test asks whether the means may share one expectation.
A printed figure stands for any number that rounds to it, so the paper is taken
at the values most favourable to agreement: its mean half a unit of the last
digit nearer to ours, its deviation half a unit larger. The p-values of all
cells compared in one table are adjusted by Holm, and an adjusted p below 0.05
makes a cell ``better`` or ``worse``.

*Equivalent?* No significant difference is no proof of equality. Two one-sided
Welch tests ask whether the difference lies within a margin: 0.02 of F1, or a
tenth of the printed size. Here the printed mean is taken half a unit farther
away. If both reject at 0.05 the cell is ``equivalent``; what is neither
different nor shown to be equivalent is ``undecided``.

Fewer trials than the paper's are taken to spread at least as much as those.
Both sides use the same ten splits, which makes their means positively
correlated. The paper's single trials are not published, so no paired test is
possible and both unpaired ones err towards ``undecided``. A shift that is too
small to show in single cells shows in ``agreements``: the mean difference of a
column and Wilcoxon's test over its datasets.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from scipy import stats

from experiments.analysis.model import OUTCOMES, Cell, Outcome, Table, Task, Verdict
from experiments.analysis.paper import TRIALS, Grid, Paper, grids
from experiments.analysis.ranking import mean_of
from experiments.analysis.statistics import LEVEL, holm, stable, wilcoxon

F1_MARGIN, SIZE_MARGIN = 0.02, 0.1
"""How far two means may be apart and still be called equivalent: of F1, and of the printed size."""
ROUNDING_SLACK = 1e-9
"""Both ways of rounding a figure that lies in the middle count as equal."""

PUBLISHED_RUNS = {("test-f1-default", "gradtree"): ("ablation-default", "gradtree")}
"""Columns printed twice, of which the table on the right is the run that was published."""
AUTHORS_DECIMALS = 3
"""To so many the authors' code rounds what the paper prints, in the size table with two only."""


@dataclass(frozen=True)
class Agreement:
    """One column of a table beside the paper's, over all cells in which it prints a number.

    ``mean_difference`` is ours minus the paper's over the ``n`` cells compared,
    ``p_value`` Wilcoxon's test over them that it is zero. ``trials`` are the fewest and the
    most behind one of these cells.
    """

    table: str
    method: str
    counts: Mapping[Outcome, int]
    n: int
    mean_difference: float | None
    largest_difference: float | None
    p_value: float | None
    trials: tuple[int, int] = (0, 0)

    @property
    def few_trials(self) -> bool:
        """Whether some cell was asked for fewer trials than the paper's."""
        return 0 < self.trials[0] < TRIALS

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def judge(ours: Mapping[str, Table], printed: Mapping[str, Table], paper: Paper) -> list[Verdict]:
    """Verdicts on all cells of all tables, in the order of the tables."""
    return [
        verdict
        for name, table in ours.items()
        for verdict in judge_table(grids()[name], table, printed[name], paper)
    ]


def judge_table(grid: Grid, ours: Table, printed: Table, paper: Paper) -> list[Verdict]:
    """Verdicts on one table; the correction for many cells spans both of its blocks.

    Columns that stand beside the paper's come last and have no printed cell to be judged by.
    """
    verdicts = [
        _compare(grid, paper, block.task, row.dataset, column.method, cell, theirs)
        for block, printed_block in zip(ours.blocks, printed.blocks, strict=True)
        for row, printed_row in zip(block.rows, printed_block.rows, strict=True)
        for column, cell, theirs in zip(grid.columns, row.cells, printed_row.cells, strict=False)
    ]
    tested = [at for at, verdict in enumerate(verdicts) if verdict.p_value is not None]
    adjusted = holm([verdicts[at].p_value or 0.0 for at in tested])
    for at, p_adjusted in zip(tested, adjusted, strict=True):
        verdicts[at] = _decide(verdicts[at], p_adjusted, grid.smaller_is_better)
    return verdicts


def _compare(
    grid: Grid, paper: Paper, task: Task, dataset: str, method: str, ours: Cell, theirs: Cell
) -> Verdict:
    """The verdict as far as it can be told from one cell alone."""
    open_verdict = Verdict(
        grid.name, task, dataset, method, ours, theirs, None, None, None, "missing"
    )
    if theirs.mean is None:
        accepted = {theirs.missing, *_misprints(paper, grid.name, dataset, method)}
        if ours.missing in accepted:
            return replace(open_verdict, outcome="exact", note=f"both {ours.missing}")
        return replace(open_verdict, note=f"the paper prints {theirs.missing}")
    if ours.mean is None:
        return replace(open_verdict, note=ours.missing or "not run")
    if not math.isfinite(ours.mean) or not math.isfinite(ours.std or 0.0):
        return replace(open_verdict, note="not a number")
    difference = ours.mean - theirs.mean
    p_value = welch(ours, theirs, grid.decimals, grid.std_decimals)
    p_equivalent = equivalence(ours, theirs, grid)
    outcome: Outcome = "equivalent" if p_equivalent < LEVEL else "undecided"
    if prints_alike(ours, theirs, grid):
        outcome = "exact"
    note = f"{ours.n} of {theirs.n} trials" if ours.n < theirs.n else ""
    return replace(
        open_verdict,
        difference=difference,
        p_value=p_value,
        p_equivalent=p_equivalent,
        outcome=outcome,
        note=note,
    )


def _misprints(paper: Paper, table: str, dataset: str, method: str) -> list[str]:
    return [
        known.recomputed
        for known in paper.inconsistencies
        if (known.table, known.dataset, known.method) == (table, dataset, method)
        and known.field == "missing"
    ]


def prints_alike(ours: Cell, theirs: Cell, grid: Grid) -> bool:
    """Equal mean and deviation at the printed digits, from as many trials."""
    return ours.n >= theirs.n and all(
        mine is not None and other is not None and _rounds_to(mine, other, decimals)
        for mine, other, decimals in (
            (ours.mean, theirs.mean, grid.decimals),
            (ours.std, theirs.std, grid.std_decimals),
        )
    )


def _rounds_to(value: float, printed: float, decimals: int) -> bool:
    """Whether a value prints as this figure, directly or by way of the authors' own rounding."""
    return any(
        abs(figure - printed) <= half_unit(decimals) + ROUNDING_SLACK
        for figure in (value, round(value, AUTHORS_DECIMALS))
    )


def half_unit(decimals: int) -> float:
    return 0.5 * 10.0**-decimals


def welch(ours: Cell, theirs: Cell, decimals: int, std_decimals: int) -> float:
    """Two-sided p-value; see the module's text for how printed figures are taken."""
    assert ours.mean is not None
    assert theirs.mean is not None
    difference = max(0.0, abs(ours.mean - theirs.mean) - half_unit(decimals))
    error, degrees = _standard_error(ours, theirs, std_decimals)
    return stable(2 * stats.t.sf(difference / error, degrees))


def equivalence(ours: Cell, theirs: Cell, grid: Grid) -> float:
    """The larger p-value of two one-sided tests that the means differ by more than the margin."""
    assert ours.mean is not None
    assert theirs.mean is not None
    difference = abs(ours.mean - theirs.mean) + half_unit(grid.decimals)
    error, degrees = _standard_error(ours, theirs, grid.std_decimals)
    return stable(stats.t.sf((margin(theirs, grid) - difference) / error, degrees))


def margin(theirs: Cell, grid: Grid) -> float:
    """What two means may differ by and still be called equivalent."""
    if grid.measure in ("test_f1", "train_f1"):
        return F1_MARGIN
    return SIZE_MARGIN * (theirs.mean or 0.0)


def _standard_error(ours: Cell, theirs: Cell, std_decimals: int) -> tuple[float, float]:
    """Standard error of the difference of two means, and Welch's degrees of freedom."""
    assert ours.std is not None
    assert theirs.std is not None
    their_error = _squared_error(theirs.std + half_unit(std_decimals), theirs.n)
    if ours.n > 1:
        few = ours.n < theirs.n
        our_error = _squared_error(max(ours.std, theirs.std) if few else ours.std, ours.n)
        degrees = (our_error + their_error) ** 2 / (
            our_error**2 / (ours.n - 1) + their_error**2 / (theirs.n - 1)
        )
    else:  # one trial has no spread of its own: it is taken to have the paper's
        our_error = their_error * theirs.n
        degrees = theirs.n - 1.0
    return math.sqrt(our_error + their_error), degrees


def _squared_error(population_std: float, n: int) -> float:
    """Squared standard error of a mean of ``n`` values: s^2 n / (n - 1) / n."""
    return population_std**2 / (n - 1)


def _decide(verdict: Verdict, p_adjusted: float, smaller_is_better: bool) -> Verdict:
    outcome = verdict.outcome
    if outcome != "exact" and p_adjusted < LEVEL:
        assert verdict.difference is not None
        outcome = "better" if (verdict.difference < 0) == smaller_is_better else "worse"
    return replace(verdict, p_adjusted=p_adjusted, outcome=outcome)


def agreements(verdicts: Iterable[Verdict]) -> list[Agreement]:
    """One line per table and method over the cells in which the paper prints a number."""
    columns: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.paper.mean is not None:
            columns.setdefault((verdict.table, verdict.method), []).append(verdict)
    return [_agreement(table, method, column) for (table, method), column in columns.items()]


def published_run(agreement: Agreement, compared: Iterable[Agreement]) -> Agreement | None:
    """The same column in the table that prints the published run, where that is another one."""
    place = PUBLISHED_RUNS.get((agreement.table, agreement.method))
    return next((each for each in compared if (each.table, each.method) == place), None)


def _agreement(table: str, method: str, column: Sequence[Verdict]) -> Agreement:
    counted = Counter(verdict.outcome for verdict in column)
    differences = [verdict.difference for verdict in column if verdict.difference is not None]
    return Agreement(
        table=table,
        method=method,
        counts={outcome: counted[outcome] for outcome in OUTCOMES},
        n=len(differences),
        mean_difference=mean_of(differences) if differences else None,
        largest_difference=max(differences, key=abs) if differences else None,
        p_value=wilcoxon(differences) if differences else None,
        trials=trial_range(column),
    )


def trial_range(verdicts: Iterable[Verdict]) -> tuple[int, int]:
    """The fewest and the most trials that a cell with a number was asked for; zeros without."""
    planned = [each.ours.expected for each in verdicts if each.difference is not None]
    return (min(planned), max(planned)) if planned else (0, 0)
