"""The table of winners: what our searches found, beside what the paper published."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from experiments.core.files import write_files
from experiments.core.job import canonical_json

WINNERS = "winners.csv"
TABLE = Path(__file__).resolve().parents[2] / "results" / "search" / WINNERS


@dataclass(frozen=True)
class Winner:
    """The best candidate of one finished search.

    Attributes
    ----------
    sampler : how candidates were drawn.
    trials : how many were drawn; ``failed`` of them had no score.
    number : the winning trial; ``score`` its mean macro F1 over the folds.
    params : what it drew.
    published : what the paper prints for the same learner and dataset.
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
    path = path or TABLE
    return _read(path, path.stat().st_mtime_ns) if path.exists() else ()


def winners_for(store: Path) -> tuple[Winner, ...]:
    """What was found: in a store of one's own where that has been searched, else committed."""
    found = {winner.subject: winner for winner in read_winners()}
    found.update({winner.subject: winner for winner in read_winners(store / "search" / WINNERS)})
    return tuple(found[subject] for subject in sorted(found))


def write_winners(new: Iterable[Winner], path: Path) -> None:
    """Add winners to a table, replacing older ones of the same subject."""
    known = {winner.subject: winner for winner in read_winners(path)}
    known.update({winner.subject: winner for winner in new})
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
