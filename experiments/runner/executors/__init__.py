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
    """Starts jobs, of which every one ends in exactly one outcome.

    ``free`` says how many more may be started now, ``running`` which are in flight. ``wait``
    gives the outcomes since last asked, waiting up to ``seconds`` for the first. ``close`` stops
    whatever runs and leaves no process behind.
    """

    def free(self) -> int: ...
    def start(self, job: Job) -> None: ...
    def wait(self, seconds: float) -> list[Outcome]: ...
    def running(self) -> Sequence[Running]: ...
    def close(self) -> None: ...


def _local(workers: int, limits: Limits) -> Executor:
    from experiments.runner.executors.local import LocalExecutor

    return LocalExecutor(workers, limits)


def _inline(workers: int, limits: Limits) -> Executor:
    from experiments.runner.executors.local import InlineExecutor

    return InlineExecutor()


EXECUTORS: dict[str, Callable[[int, Limits], Executor]] = {"local": _local, "inline": _inline}
"""By name; a Dask cluster is named by the address of its scheduler instead."""
