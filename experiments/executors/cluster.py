"""Jobs on a Dask cluster: the same supervised workers, on many machines.

Processes of the cluster whose versions differ from this one's are given no
work. One that is lost takes its job with it, and the job is started again
elsewhere.
"""

from __future__ import annotations

import contextlib
import os
import queue
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.executors.contract import Limits, Running
from experiments.executors.remote import Session, run_supervised, stop_session
from experiments.planning import plugins
from experiments.planning.jobs import Job
from experiments.records import environment
from experiments.records.record import RunRecord
from experiments.running.perform import Outcome, now

if TYPE_CHECKING:
    from distributed import Future

LOOK_SECONDS = 2.0
CONNECT_SECONDS = 30


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

        try:
            self._client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError) as problem:
            raise SystemExit(
                f"no Dask scheduler answers at {address} ({problem}); "
                "start one with `dask scheduler` and workers with `dask worker`"
            ) from None
        self._session = Session(uuid.uuid4().hex, limits, os.environ.get(plugins.VARIABLE, ""))
        self._flights: dict[Future, Flight] = {}
        self._landed: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._threads: dict[str, int] = {}
        self._refused: set[str] = set()
        self._looked = 0.0

    def free(self) -> int:
        self._look_around()
        return max(0, sum(self._threads.values()) - len(self._flights))

    def start(self, job: Job) -> None:
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
        return [Running(f.job, at - f.since, "cluster") for f in self._flights.values()]

    def close(self) -> None:
        """Call back what is out; the cluster itself stays."""
        with contextlib.suppress(Exception):  # the cluster may be gone
            self._client.cancel(list(self._flights), force=True)
            self._client.run(stop_session, self._session.token, on_error="ignore")
        self._client.close()

    def _collect(self, future: Future) -> Outcome | None:
        flight = self._flights.pop(future)
        if future.status == "finished":
            outcome: Outcome = future.result()
            return outcome
        if future.status != "error":  # cancelled or lost on the way: once more
            self.start(flight.job)
            return None
        record = RunRecord.of(
            flight.job,
            "crash",
            reason=f"lost on the cluster: {future.exception()!r}",
            environment=environment.describe()["id"],
            finished=now(),
        )
        return Outcome(record)

    def _look_around(self) -> None:
        """See who is there now and has our versions; move jobs away from who is gone."""
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        self._looked = time.monotonic()
        self._check([address for address in workers if address not in self._threads])
        self._threads = {
            address: info["nthreads"]
            for address, info in workers.items()
            if address not in self._refused
        }
        stranded = [f for f, flight in self._flights.items() if not flight.allowed & set(workers)]
        for future in stranded:
            flight = self._flights.pop(future)
            self._client.cancel([future], force=True)
            self.start(flight.job)

    def _check(self, newcomers: list[str]) -> None:
        """Refuse processes whose libraries could give other numbers."""
        if not newcomers:
            return
        ours = environment.versions()
        answers: dict[str, Any] = self._client.run(
            environment.versions, workers=newcomers, on_error="return"
        )
        for address, theirs in answers.items():
            found = differing(ours, theirs) if isinstance(theirs, dict) else repr(theirs)
            if found and address not in self._refused:
                self._refused.add(address)
                print(f"{address} is given no work: {found}", flush=True)


def differing(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """What has another version there, for people; empty if nothing has."""
    names = sorted(ours.keys() | theirs.keys())
    return ", ".join(
        f"{name} is {theirs.get(name, 'missing')} there, {ours.get(name, 'missing')} here"
        for name in names
        if ours.get(name) != theirs.get(name)
    )
