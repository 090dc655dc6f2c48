"""Where jobs run: in this process, in supervised processes, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from experiments.runs.job import Job, Limits

if TYPE_CHECKING:
    from experiments.runner.run_job import Outcome


@dataclass(frozen=True)
class Running:
    """A job in flight, how long it has been, and where."""

    job: Job
    seconds: float
    where: str


class Executor(Protocol):
    """Start jobs, collect outcomes. Every started job ends in exactly one outcome."""

    def free(self) -> int:
        """How many more jobs may be started now."""

    def start(self, job: Job) -> None:
        """Begin a job; returns at once where the executor can."""

    def wait(self, seconds: float) -> list[Outcome]:
        """The outcomes since last asked, waiting up to ``seconds`` for the first."""

    def running(self) -> Sequence[Running]:
        """The jobs in flight."""

    def close(self) -> None:
        """Stop whatever runs, leaving no process behind."""


def _local(workers: int, limits: Limits) -> Executor:
    from experiments.runner.executors.local import LocalExecutor

    return LocalExecutor(workers, limits)


def _inline(workers: int, limits: Limits) -> Executor:
    from experiments.runner.executors.local import InlineExecutor

    return InlineExecutor()


EXECUTORS: dict[str, Callable[[int, Limits], Executor]] = {"local": _local, "inline": _inline}
"""By name; a Dask cluster is named by the address of its scheduler instead."""
