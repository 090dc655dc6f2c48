"""How much of the paper came out: the verdicts counted, and what may be said of them.

A run of fewer trials than the paper's ten is no test of its numbers, so it is
counted but claims nothing; what it can show is that its fits are the committed
ones, trial by trial (see ``repeats``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from experiments.analysis.definitions import grids
from experiments.analysis.judging import trial_range
from experiments.analysis.model import OUTCOMES, Outcome, Verdict
from experiments.analysis.paper import TRIALS


@dataclass(frozen=True)
class Tally:
    """Cells in which the paper prints a number, by verdict.

    ``trials`` are the fewest and the most that a measured cell was asked for, ``unfinished``
    counts the cells that have only some of them so far.
    """

    counts: Mapping[Outcome, int]
    trials: tuple[int, int]
    unfinished: int

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def measured(self) -> int:
        return self.total - self.counts["missing"]

    @property
    def claims(self) -> bool:
        """Whether the counts may be held against the paper: there are ten trials everywhere."""
        return self.measured > 0 and self.trials[0] >= TRIALS

    @property
    def trials_text(self) -> str:
        """Such as ``3``, or ``3 to 10``."""
        fewest, most = self.trials
        return str(most) if fewest == most else f"{fewest} to {most}"


def counted(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Verdicts that are held against the paper: on its numbers, seconds of machines left out."""
    return [
        verdict
        for verdict in verdicts
        if verdict.paper.mean is not None and not grids()[verdict.table].machine_dependent
    ]


def tally(verdicts: Iterable[Verdict]) -> Tally:
    found = counted(verdicts)
    counts = Counter(verdict.outcome for verdict in found)
    return Tally(
        {outcome: counts[outcome] for outcome in OUTCOMES},
        trial_range(found),
        sum(verdict.ours.partial for verdict in found),
    )
