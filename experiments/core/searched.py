"""What searches found, in a form that is small enough to commit: every score, and the winners.

A candidate is a pure function of its number, so a search is a column of
scores: ``<folder>/<protocol>/<dataset>.csv`` has one line per number and, per
method, the mean macro F1 over the folds (or how the candidate failed) and the
processor seconds it took. A candidate that equals an earlier one has its score
and no seconds.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal

from experiments.core.checks import is_slug
from experiments.core.files import write_files
from experiments.core.job import canonical_json
from experiments.core.record import STATUSES
from experiments.core.store import COMMITTED

FOLDER = COMMITTED.parent / "search"
SECONDS = "_seconds"
SamplerName = Literal["random", "tpe"]


@dataclass(frozen=True)
class Subject:
    """What is searched: a learner on a dataset under a protocol."""

    protocol: str
    dataset: str
    method: str

    def __str__(self) -> str:
        return f"{self.protocol} {self.dataset} {self.method}"


@dataclass(frozen=True)
class Scored:
    """One candidate: its score, or a status other than ``ok``; seconds where it was fitted."""

    score: float | None
    status: str = "ok"
    seconds: float | None = None


@dataclass
class SearchScores:
    """All candidates of one dataset under one protocol: method -> number -> outcome."""

    protocol: str
    dataset: str
    methods: dict[str, dict[int, Scored]] = field(default_factory=dict)

    def best(self, method: str, trials: int) -> int | None:
        """The number with the highest score among the first so many, the earliest of equals."""
        scores = {
            number: one.score
            for number, one in self.methods.get(method, {}).items()
            if number < trials and one.score is not None
        }
        return max(scores, key=lambda number: (scores[number], -number), default=None)

    def all_skipped(self, method: str) -> bool:
        """Whether the learner cannot handle the dataset, so that no search finds a winner."""
        column = self.methods.get(method, {})
        return bool(column) and all(one.status == "skipped" for one in column.values())

    def missing(self, method: str, trials: int) -> int:
        """How many of the first so many candidates have not been scored."""
        known = self.methods.get(method, {})
        return sum(number not in known for number in range(trials))

    def complete(self, method: str) -> int:
        """How many candidates from the first on have been scored without a gap."""
        known = self.methods.get(method, {})
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
                scores.methods.setdefault(name, {})[number] = _scored(text, seconds)
    return scores


def _scored(text: str, seconds: str | None) -> Scored:
    spent = float(seconds) if seconds else None
    if text in STATUSES:
        return Scored(None, text, spent)
    return Scored(float(text), "ok", spent)


def write_scores(folder: Path, scores: SearchScores) -> None:
    """Write the table of one dataset; methods in alphabetical order."""
    if not (is_slug(scores.protocol) and is_slug(scores.dataset)):
        raise ValueError(f"{scores.protocol}/{scores.dataset} are no names")
    methods = sorted(scores.methods)
    numbers = sorted({number for column in scores.methods.values() for number in column})
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["number", *(name for each in methods for name in (each, each + SECONDS))])
    for number in numbers:
        row: list[str] = [str(number)]
        for each in methods:
            one = scores.methods[each].get(number)
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


WINNERS = "winners.csv"
WINNERS_TABLE = Path(__file__).resolve().parents[2] / "results" / "search" / WINNERS


@dataclass(frozen=True)
class Winner:
    """The best candidate of one finished search.

    Attributes
    ----------
    sampler : how candidates were drawn.
    trials : how many were drawn; ``failed`` of them had no score.
    number : the winning trial; ``score`` its mean macro F1 over the folds.
    params : what it drew.
    published : what the paper prints for the same method and dataset.
    """

    protocol: str
    dataset: str
    method: str
    sampler: str
    trials: int
    failed: int
    number: int
    score: float
    params: dict[str, Any]
    published: dict[str, Any]

    @property
    def subject(self) -> tuple[str, str, str]:
        return self.protocol, self.dataset, self.method


@cache
def _read(path: Path, modified: int) -> tuple[Winner, ...]:
    with path.open(newline="", encoding="utf-8") as file:
        return tuple(_from_row(row) for row in csv.DictReader(file))


def read_winners(path: Path | None = None) -> tuple[Winner, ...]:
    """The table at ``path``, or the committed one; a table that is not there is empty."""
    path = path or WINNERS_TABLE
    return _read(path, path.stat().st_mtime_ns) if path.exists() else ()


def winners_for(store: Path) -> tuple[Winner, ...]:
    """What was found: in a store of one's own where that has been searched, else committed."""
    found = {winner.subject: winner for winner in read_winners()}
    found.update({winner.subject: winner for winner in read_winners(store / "search" / WINNERS)})
    return tuple(found[subject] for subject in sorted(found))


def write_winners(new: Iterable[Winner], path: Path) -> None:
    """Add winners to a table, replacing older ones of the same subject.

    One found among more candidates stays: the shorter search is the beginning of the longer one.
    """
    known = {winner.subject: winner for winner in read_winners(path)}
    for winner in new:
        old = known.get(winner.subject)
        if old is None or old.sampler != winner.sampler or old.trials <= winner.trials:
            known[winner.subject] = winner
    text = io.StringIO()
    writer = csv.DictWriter(text, [f.name for f in fields(Winner)], lineterminator="\n")
    writer.writeheader()
    for subject in sorted(known):
        writer.writerow(_to_row(known[subject]))
    write_files(path.parent, {path.name: text.getvalue()})


def _to_row(winner: Winner) -> dict[str, Any]:
    row = asdict(winner)
    return {
        **row,
        "params": canonical_json(row["params"]),
        "published": canonical_json(row["published"]),
    }


def _from_row(row: dict[str, str]) -> Winner:
    return Winner(
        protocol=row["protocol"],
        dataset=row["dataset"],
        method=row["method"],
        sampler=row["sampler"],
        trials=int(row["trials"]),
        failed=int(row["failed"]),
        number=int(row["number"]),
        score=float(row["score"]),
        params=json.loads(row["params"]),
        published=json.loads(row["published"]),
    )
