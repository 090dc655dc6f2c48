"""Bring the records of one store into another."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.records import artifacts
from experiments.records.store import Store, precedence


@dataclass
class Tally:
    """How many records were new, better than what was there, or known already."""

    new: int = 0
    better: int = 0
    known: int = 0


def merge(source: Store, target: Store, predictions: bool = True) -> Tally:
    """Bring the records that count in ``source`` into ``target``; repeating it adds nothing."""
    known = target.latest()
    tally = Tally()
    for description in source.environments().values():
        target.append_environment(description)
    for key, record in source.latest().items():
        if key not in known:
            tally.new += 1
        elif precedence(record) > precedence(known[key]):
            tally.better += 1
        else:
            tally.known += 1
            continue
        path = artifacts.path_of(source.folder, record)
        if predictions and path.exists():
            artifacts.save(target.folder, record, path.read_bytes())
        target.append(record)
    return tally
