"""Where jobs run: in this process, in supervised processes, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from experiments.runs.job import Job

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
