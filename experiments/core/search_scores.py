"""What searches scored, in a form that is small enough to commit.

A candidate is a pure function of its number, so a search is a column of
scores: ``<folder>/<protocol>/<dataset>.csv`` has one line per number and, per
learner, the mean macro F1 over the folds (or how the candidate failed) and the
processor seconds it took. A candidate that equals an earlier one has its score
and no seconds.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path

from experiments.core.checks import is_slug
from experiments.core.files import write_files
from experiments.core.record import STATUSES
from experiments.core.store import COMMITTED

FOLDER = COMMITTED.parent / "search"
SECONDS = "_seconds"


@dataclass(frozen=True)
class Scored:
    """One candidate: its score, or a status other than ``ok``; seconds where it was fitted."""

    score: float | None
    status: str = "ok"
    seconds: float | None = None


@dataclass
class SearchScores:
    """All candidates of one dataset under one protocol: learner -> number -> outcome."""

    protocol: str
    dataset: str
    learners: dict[str, dict[int, Scored]] = field(default_factory=dict)

    def best(self, method: str, trials: int) -> int | None:
        """The number with the highest score among the first so many, the earliest of equals."""
        scores = {
            number: one.score
            for number, one in self.learners.get(method, {}).items()
            if number < trials and one.score is not None
        }
        return max(scores, key=lambda number: (scores[number], -number), default=None)

    def missing(self, method: str, trials: int) -> int:
        """How many of the first so many candidates have not been scored."""
        known = self.learners.get(method, {})
        return sum(number not in known for number in range(trials))

    def complete(self, method: str) -> int:
        """How many candidates from the first on have been scored without a gap."""
        known = self.learners.get(method, {})
        return next((n for n in range(len(known) + 1) if n not in known), 0)


def read_scores(folder: Path, protocol: str, dataset: str) -> SearchScores:
    """The table of one dataset; one that is not there is empty."""
    scores = SearchScores(protocol, dataset)
    path = folder / protocol / f"{dataset}.csv"
    if not path.is_file():
        return scores
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            number = int(row["number"])
            for name, text in row.items():
                if name == "number" or name.endswith(SECONDS) or not text:
                    continue
                seconds = row.get(name + SECONDS)
                scores.learners.setdefault(name, {})[number] = _scored(text, seconds)
    return scores


def _scored(text: str, seconds: str | None) -> Scored:
    spent = float(seconds) if seconds else None
    if text in STATUSES:
        return Scored(None, text, spent)
    return Scored(float(text), "ok", spent)


def write_scores(folder: Path, scores: SearchScores) -> None:
    """Write the table of one dataset; learners in alphabetical order."""
    if not (is_slug(scores.protocol) and is_slug(scores.dataset)):
        raise ValueError(f"{scores.protocol}/{scores.dataset} are no names")
    learners = sorted(scores.learners)
    numbers = sorted({number for column in scores.learners.values() for number in column})
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["number", *(name for each in learners for name in (each, each + SECONDS))])
    for number in numbers:
        row: list[str] = [str(number)]
        for each in learners:
            one = scores.learners[each].get(number)
            row += ["", ""] if one is None else [_score_text(one), _seconds_text(one)]
        writer.writerow(row)
    write_files(folder, {f"{scores.protocol}/{scores.dataset}.csv": text.getvalue()})


def _score_text(one: Scored) -> str:
    return one.status if one.score is None else repr(one.score)


def _seconds_text(one: Scored) -> str:
    return "" if one.seconds is None else f"{one.seconds:.3g}"


def all_scores(folder: Path = FOLDER) -> list[SearchScores]:
    """Every table in a folder."""
    return [
        read_scores(folder, path.parent.name, path.stem) for path in sorted(folder.glob("*/*.csv"))
    ]
