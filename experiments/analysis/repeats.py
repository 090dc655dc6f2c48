"""Are these fits ours? Records of one store beside those of another, job by job.

The same key means the same data, protocol, learner, parameters, trial and
seed, so the scores must be equal to the last digit. Where they are not, the
two environments say what differs: a version, or the processor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.core import predictions
from experiments.core.record import SCORES, RunRecord

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


def compare(store: Mapping[str, RunRecord], committed: Mapping[str, RunRecord]) -> Repeats:
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
