"""Jobs on a Dask cluster: the same supervised workers, on many machines.

Processes of the cluster whose versions, datasets, protocols or learners differ
from this one's are given no work. One that is lost takes its job with it, and
the job is started again elsewhere. A cluster without a scheduler, or for long
without a process that may work, ends the run; what is done is kept. What runs
inside the cluster's processes is in ``cluster_side``.
"""

from __future__ import annotations

import contextlib
import os
import queue
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.core import machine
from experiments.core.checks import CannotGoOnError, clean_text
from experiments.core.job import Job, Limits, Running, now
from experiments.core.record import Outcome, RunRecord
from experiments.core.text import duration, say
from experiments.runner import plugins
from experiments.runner.executors.cluster_side import (
    Session,
    identity,
    run_supervised,
    stop_session,
)

if TYPE_CHECKING:
    from distributed import Future


LOOK_SECONDS = 2.0
CONNECT_SECONDS = 30
PATIENCE_SECONDS = 120.0
"""How long a cluster may be without a process that may work."""
DIFFERENCES_SHOWN = 3
LONGEST_REFUSAL = 300


class ClusterLostError(CannotGoOnError):
    """There is no scheduler, or nobody who works for it."""


@dataclass(frozen=True)
class Flight:
    """A job that is out, since when, and the processes that may do it."""

    job: Job
    since: float
    allowed: frozenset[str]


class DaskExecutor:
    """Runs as many jobs at a time as the cluster has threads.

    Parameters
    ----------
    address : of the scheduler, e.g. ``tcp://192.168.1.2:8786``.
    limits : of every job, wherever it runs.
    """

    def __init__(self, address: str, limits: Limits) -> None:
        from distributed import Client

        self._address = address
        try:
            self._client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as problem:
            raise ClusterLostError(
                f"no Dask scheduler answers at {address} ({problem}); "
                "start one with `dask scheduler` and workers with `dask worker`"
            ) from None
        self._session = Session(uuid.uuid4().hex, limits, os.environ.get(plugins.VARIABLE, ""))
        self._flights: dict[Future, Flight] = {}
        self._waiting: list[Job] = []
        self._landed: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._threads: dict[str, int] = {}
        self._fit: set[str] = set()
        self._refused: dict[str, str] = {}
        self._looked = 0.0
        self._someone_worked = time.monotonic()

    def free(self) -> int:
        self._look_around()
        return max(0, sum(self._threads.values()) - len(self._flights) - len(self._waiting))

    def start(self, job: Job) -> None:
        """Send a job out, or let it wait for somebody who may do it."""
        if not self._threads or self._client.status != "running":
            self._waiting.append(job)
            return
        future = self._client.submit(
            run_supervised,
            job,
            self._session,
            key=f"{job.key}-{uuid.uuid4().hex}",
            workers=list(self._threads),
            pure=False,
        )
        future.add_done_callback(self._landed.put)
        self._flights[future] = Flight(job, time.monotonic(), frozenset(self._threads))

    def wait(self, seconds: float) -> list[Outcome]:
        self._look_around()
        done = []
        with contextlib.suppress(queue.Empty):
            done.append(self._landed.get(timeout=seconds))
            while True:
                done.append(self._landed.get_nowait())
        outcomes = [self._collect(future) for future in done if future in self._flights]
        return [outcome for outcome in outcomes if outcome is not None]

    def running(self) -> list[Running]:
        at = time.monotonic()
        out = [Running(f.job, at - f.since, "cluster") for f in self._flights.values()]
        return [*out, *(Running(job, 0.0, "waiting") for job in self._waiting)]

    def close(self) -> None:
        """Call back what is out; the cluster itself stays."""
        with contextlib.suppress(Exception):  # the cluster may be gone
            if self._client.status == "running":
                self._client.cancel(list(self._flights), force=True)
                self._client.run(stop_session, self._session.token, on_error="ignore")
        with contextlib.suppress(Exception):
            self._client.close(timeout=CONNECT_SECONDS)

    def _collect(self, future: Future) -> Outcome | None:
        flight = self._flights.pop(future)
        if future.status == "finished":
            with contextlib.suppress(Exception):  # it was lost on the way
                outcome: Outcome = future.result(timeout=CONNECT_SECONDS)
                return outcome
        if future.status != "error":  # cancelled or lost: once more
            self.start(flight.job)
            return None
        record = RunRecord.of(
            flight.job,
            "crash",
            reason=f"lost on the cluster: {future.exception()!r}",
            environment=machine.describe()["id"],
            finished=now(),
        )
        return Outcome(record)

    def _look_around(self) -> None:
        """See who is there now and fits; move jobs away from who is gone."""
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return
        workers = self._workers()
        self._check([address for address in workers if address not in self._fit])
        self._looked = time.monotonic()
        self._threads = {who: threads for who, threads in workers.items() if who in self._fit}
        stranded = [f for f, flight in self._flights.items() if not flight.allowed & set(workers)]
        for future in stranded:
            self._waiting.append(self._flights.pop(future).job)
            with contextlib.suppress(Exception):  # the scheduler may be gone, too
                self._client.cancel([future], force=True)
        if self._threads:
            self._someone_worked = time.monotonic()
            waiting, self._waiting = self._waiting, []
            for job in waiting:
                self.start(job)
        elif time.monotonic() - self._someone_worked > PATIENCE_SECONDS:
            raise ClusterLostError(self._nobody())

    def _workers(self) -> dict[str, int]:
        """Address -> threads; nobody while the connection is being made anew."""
        if self._client.status == "closed":
            raise ClusterLostError(f"the Dask scheduler at {self._address} is gone")
        if self._client.status != "running":
            return {}
        try:
            found = self._client.scheduler_info(n_workers=-1).get("workers", {})
        except (OSError, TimeoutError, RuntimeError):
            return {}
        return {address: info["nthreads"] for address, info in found.items()}

    def _nobody(self) -> str:
        refused = "".join(f"; {who} is given no work: {why}" for who, why in self._refused.items())
        return (
            f"no workers at {self._address} for {duration(PATIENCE_SECONDS)}; start some with "
            f"`dask worker {self._address}`{refused}"
        )

    def _check(self, newcomers: list[str]) -> None:
        """Refuse processes that could give other numbers."""
        unknown = [address for address in newcomers if address not in self._refused]
        if not unknown:
            return
        names = self._session.plugins
        ours = identity(names)
        try:
            answers: dict[str, Any] = self._client.run(
                identity, names, workers=unknown, on_error="return"
            )
        except (OSError, TimeoutError, RuntimeError, ValueError):
            return  # they have left again, or will be asked at the next look
        for address, theirs in answers.items():
            found = differing(ours, theirs) if isinstance(theirs, dict) else repr(theirs)
            if found:
                self._refused[address] = clean_text(found, LONGEST_REFUSAL, "start")
                say(f"{address} is given no work: {self._refused[address]}")
            else:
                self._fit.add(address)


def differing(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """What has another version there, for people; empty if nothing has."""
    found = [
        f"{name} is {_short(theirs.get(name))} there, {_short(ours.get(name))} here"
        for name in sorted(ours.keys() | theirs.keys())
        if ours.get(name) != theirs.get(name)
    ]
    more = len(found) - DIFFERENCES_SHOWN
    return ", ".join([*found[:DIFFERENCES_SHOWN], *([f"and {more} more"] if more > 0 else [])])


def _short(version: str | None) -> str:
    """Hashes are told apart by their first digits."""
    return "missing" if version is None else version[:12]
