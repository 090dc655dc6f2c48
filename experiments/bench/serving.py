"""The side of a worker process: takes fits as lines of JSON and answers with their timings.

Needs nothing but NumPy, because the authors' package runs it under an interpreter of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from experiments.bench.cases import Case, Data, load_data


@dataclass(frozen=True)
class Stamp:
    """A moment, by the clock on the wall and by the processor time of this process."""

    wall: float
    cpu: float

    def since(self, earlier: Stamp) -> Stamp:
        """Time between two moments."""
        return Stamp(self.wall - earlier.wall, self.cpu - earlier.cpu)

    def divided(self, parts: int) -> Stamp:
        """One of several equal parts of a time."""
        return Stamp(self.wall / parts, self.cpu / parts)


@dataclass(frozen=True)
class Phases:
    """Processor seconds per epoch on the gradients and on the dense update of the parameters."""

    gradients: float
    update: float


@dataclass(frozen=True)
class Timing:
    """What one fit took: an epoch, without the first one, the whole, and parts of an epoch."""

    epoch: Stamp
    fit: Stamp
    phases: Phases | None = None

    @classmethod
    def from_json(cls, parts: dict[str, dict[str, float] | None]) -> Timing:
        """The timing that ``asdict`` made these parts of."""
        epoch, fit, phases = parts["epoch"] or {}, parts["fit"] or {}, parts["phases"]
        return cls(Stamp(**epoch), Stamp(**fit), Phases(**phases) if phases else None)


Fit = Callable[[Case, Data], Timing]


def now() -> Stamp:
    """This moment."""
    return Stamp(time.perf_counter(), time.process_time())


def middle(times: Sequence[Stamp]) -> Stamp:
    """Median of times, by each clock."""
    return Stamp(median(each.wall for each in times), median(each.cpu for each in times))


def timing_of_epochs(began: Stamp, ends: list[Stamp], finished: Stamp) -> Timing:
    """Timing of a fit from the ends of its epochs; the first one pays for tracing."""
    if len(ends) < 2:
        raise ValueError(
            f"timing an epoch needs fits of at least 2 epochs, this one had {len(ends)}"
        )
    return Timing(ends[-1].since(ends[0]).divided(len(ends) - 1), finished.since(began))


def keep_to_one_core() -> None:
    """Bind this process to one core, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def serve(fit: Fit) -> None:
    """Answer requests from standard input until it ends."""
    keep_to_one_core()
    for line in sys.stdin:
        request = json.loads(line)
        # What libraries print must not get between the answers.
        with contextlib.redirect_stdout(sys.stderr):
            timing = fit(Case(**request["case"]), load_data(Path(request["data"])))
        print(json.dumps(asdict(timing)), flush=True)
