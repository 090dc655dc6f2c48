"""Rounds of fits in which the engines take turns, so that a busy moment hits them all."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from experiments.bench.cases import Case
from experiments.bench.data import make_data, save_data
from experiments.bench.serving import Timing
from experiments.bench.workers import Interpreters, Worker


@dataclass(frozen=True)
class Measurement:
    """One timed fit."""

    group: str
    case: Case
    engine: str
    repeat: int
    timing: Timing


@dataclass(frozen=True)
class Plan:
    """What to time.

    Attributes
    ----------
    groups : the cases of each axis, smallest first, and the named cases.
    engines : by slug, in the order of their turns.
    repeats : fits of every engine for every case.
    longest_epoch : seconds; an engine is spared the larger cases of a group once an epoch of
        its last case took so long that the next is expected to take longer than this.
    """

    groups: dict[str, tuple[Case, ...]]
    engines: tuple[str, ...]
    repeats: int = 3
    longest_epoch: float = 20.0


Note = Callable[[Measurement], None]


def measure(plan: Plan, interpreters: Interpreters, note: Note) -> None:
    """Run every fit of a plan; ``note`` hears of each as it ends."""
    with ExitStack() as stack:
        workers = [stack.enter_context(Worker(name, interpreters)) for name in plan.engines]
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for group, cases in plan.groups.items():
            _measure_group(group, cases, workers, plan, folder, note)


def _measure_group(
    group: str,
    cases: Sequence[Case],
    workers: Sequence[Worker],
    plan: Plan,
    folder: Path,
    note: Note,
) -> None:
    last: dict[str, tuple[Case, float]] = {}
    for case in cases:
        taking_part = [
            worker
            for worker in workers
            if worker.engine not in last
            or _expected(case, *last[worker.engine]) < plan.longest_epoch
        ]
        data = folder / "data.npz"
        save_data(make_data(case), data)
        for repeat in range(plan.repeats):
            for worker in taking_part:
                timing = worker.fit(case, data)
                last[worker.engine] = case, timing.epoch.cpu
                note(Measurement(group, case, worker.engine, repeat, timing))


def _expected(case: Case, smaller: Case, seconds: float) -> float:
    """Seconds per epoch of a case if the dense formulation's cost decides."""
    return seconds * _dense_cost(case) / _dense_cost(smaller)


def _dense_cost(case: Case) -> float:
    return case.samples * case.features * 2.0**case.depth * case.depth
