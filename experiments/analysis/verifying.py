"""What ``verify`` asks: how much of the paper came out, is anything worse, are these fits ours?

The verdicts are counted. A run of fewer trials than the paper's ten is no test
of its numbers, so it is counted but claims nothing; what it can show is that its
fits are the committed ones, trial by trial. The same key means the same data,
protocol, learner, parameters, trial and seed, so the scores must be equal to the
last digit. Where they are not, the two environments say what differs: a version,
or the processor.

``results/verdicts.csv`` and ``results/claims.csv`` hold the outcome that was
last looked at and accepted. A change for the worse is a regression: a cell
that was ``exact`` and is only ``equivalent`` now, that was ``equivalent`` and is
``undecided`` or differs significantly now, that had a result and has none, or a
claim that held. Improvements are none. A dataset that nobody could load is no
result at all, neither in its cells nor in the claims that need them, and in a
store that is not whole neither is what was run with fewer trials than the
paper's.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.analysis.judging import trial_range
from experiments.analysis.model import CLAIM_OUTCOMES, OUTCOMES, Claim, Outcome, Verdict
from experiments.analysis.paper import TRIALS, grids
from experiments.core import predictions
from experiments.core.checks import UserError
from experiments.core.record import SCORES, RunRecord


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


FOLDER = Path(__file__).resolve().parents[2] / "results"
VERDICTS = "verdicts.csv"
CLAIMS = "claims.csv"

SEVERITY: dict[str, int] = {outcome: place for place, outcome in enumerate(OUTCOMES)}
NO_DATA = "no data"
CLAIM_SEVERITY: dict[str, int] = {outcome: place for place, outcome in enumerate(CLAIM_OUTCOMES)}

CellKey = tuple[str, str, str]


@dataclass(frozen=True)
class Accepted:
    """Outcomes by (table, dataset, method), and of claims by their slug."""

    cells: Mapping[CellKey, str]
    claims: Mapping[str, str]


def read_accepted(folder: Path) -> Accepted | None:
    """What was accepted last, or ``None`` if nothing ever was."""
    if not (folder / VERDICTS).exists() or not (folder / CLAIMS).exists():
        return None
    with (folder / VERDICTS).open(newline="", encoding="utf-8") as file:
        cells = {
            (row["table"], row["dataset"], row["method"]): row["outcome"]
            for row in csv.DictReader(file)
        }
    with (folder / CLAIMS).open(newline="", encoding="utf-8") as file:
        claims = {row["claim"]: row["outcome"] for row in csv.DictReader(file)}
    return Accepted(cells, claims)


def regressions(
    accepted: Accepted, verdicts: Iterable[Verdict], claims: Iterable[Claim], whole: bool = True
) -> list[str]:
    """What is worse than accepted, one line each.

    Parameters
    ----------
    whole : the store should have every result. Otherwise what has not been run, or
        not with the paper's number of trials, is no regression.
    """
    lines = []
    judged = list(verdicts)
    no_data = any(verdict.ours.missing == NO_DATA for verdict in judged)
    for verdict in judged:
        before = accepted.cells.get((verdict.table, verdict.dataset, verdict.method))
        if before is None or grids()[verdict.table].machine_dependent:
            continue
        if verdict.ours.missing == NO_DATA:
            continue
        if not whole and _unfinished(verdict):
            continue
        if SEVERITY[verdict.outcome] > _severity(SEVERITY, before):
            lines.append(
                f"{verdict.table}: {verdict.method} on {verdict.dataset} was {before}, "
                f"is {verdict.outcome}{_figures(verdict)}"
            )
    for each in claims:
        held = accepted.claims.get(each.slug)
        if held is None or (each.outcome == "cannot be told" and (no_data or not whole)):
            continue
        if not whole and each.trials < TRIALS:
            continue
        if CLAIM_SEVERITY[each.outcome] > _severity(CLAIM_SEVERITY, held):
            lines.append(f"claim {each.slug}: was {held!r}, is {each.outcome!r} ({each.ours})")
    return lines


def _unfinished(verdict: Verdict) -> bool:
    few = verdict.ours.mean is not None and verdict.ours.n < verdict.paper.n
    return verdict.ours.pending or verdict.ours.partial or few


def _severity(scale: Mapping[str, int], outcome: str) -> int:
    if outcome not in scale:
        raise UserError(
            f"unknown outcome {outcome!r} among the accepted verdicts; rewrite them with "
            "`python -m experiments verify --update`"
        )
    return scale[outcome]


def _figures(verdict: Verdict) -> str:
    if verdict.ours.mean is None or verdict.paper.mean is None:
        return f" ({verdict.note})" if verdict.note else ""
    return f" (ours {verdict.ours.mean:.4f}, paper {verdict.paper.mean:g})"


FIRST_SHOWN = 5
TOLERANCE = 1e-9
"""Between a stored score and the same score computed anew from predictions."""


@dataclass(frozen=True)
class Difference:
    """One job with other scores than the committed record of the same key."""

    theirs: RunRecord
    ours: RunRecord

    @property
    def fields(self) -> dict[str, tuple[Any, Any]]:
        """Score -> (in the store, committed)."""
        pairs = {name: (getattr(self.theirs, name), getattr(self.ours, name)) for name in SCORES}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


@dataclass(frozen=True)
class Repeats:
    """How many successful fits both stores have, and those that differ."""

    compared: int
    differences: tuple[Difference, ...]

    @property
    def equal(self) -> int:
        return self.compared - len(self.differences)

    @property
    def sentence(self) -> str:
        return f"{self.equal:,} of your {self.compared:,} fits equal ours"


def compare_fits(store: Mapping[str, RunRecord], committed: Mapping[str, RunRecord]) -> Repeats:
    """Every job that ended well in both."""
    pairs = [
        (record, committed[key])
        for key, record in store.items()
        if record.status == "ok" and key in committed and committed[key].status == "ok"
    ]
    differing = tuple(Difference(a, b) for a, b in pairs if not a.agrees_with(b))
    return Repeats(len(pairs), differing)


def environment_differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """What two environments differ in, for people; empty if in nothing."""
    parts = []
    for group in ("versions", "machine"):
        mine, other = dict(ours.get(group, {})), dict(theirs.get(group, {}))
        for name in sorted(mine.keys() | other.keys()):
            if mine.get(name) != other.get(name):
                parts.append(f"{name} {other.get(name, 'none')} for {mine.get(name, 'none')}")
    return ", ".join(parts)


def recomputed(folder: Path, records: Sequence[RunRecord]) -> tuple[int, list[str]]:
    """Scores computed anew from the kept predictions.

    Returns
    -------
    int
        How many records have predictions.
    list of str
        Those whose stored score is not that of their predictions.
    """
    from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

    checked, wrong = 0, []
    for record in records:
        both = predictions.classes(folder, record) if record.status == "ok" else None
        if both is None:
            continue
        checked += 1
        truth, predicted = both
        scores = {
            "test_f1": f1_score(truth, predicted, average="macro", zero_division=0),
            "test_accuracy": accuracy_score(truth, predicted),
        }
        if set(predicted) <= set(truth):  # scikit-learn warns of classes that are not in the truth
            scores["test_balanced_accuracy"] = balanced_accuracy_score(truth, predicted)
        for name, score in scores.items():
            stored = getattr(record, name)
            if stored is None or abs(stored - score) > TOLERANCE:
                where = f"{record.protocol} {record.dataset} {record.method} trial {record.trial}"
                wrong.append(f"{where}: {name} is {stored}, its predictions give {score}")
    return checked, wrong
