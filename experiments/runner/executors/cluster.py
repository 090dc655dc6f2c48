"""Jobs on a Dask cluster: the same supervised workers, on many machines.

Processes of the cluster whose versions differ from this one's are given no
work. One that is lost takes its job with it, and the job is started again
elsewhere. The first half of this module runs inside the cluster's processes,
the second in the process that has jobs to give.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from experiments.core import machine
from experiments.core.job import Job
from experiments.core.outcome import Limits, Outcome, Running, now
from experiments.core.record import RunRecord
from experiments.runner import plugins
from experiments.runner.executors import cleanup
from experiments.runner.executors.supervisor import Supervisor, wait_for_news

if TYPE_CHECKING:
    from distributed import Future


POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Session:
    """One client's stay on the cluster, and what its jobs need there."""

    token: str
    limits: Limits
    plugins: str


class SupervisorPool:
    """The supervisors of this process, lent out to the threads that run jobs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[tuple[str, Supervisor]] = []
        self._busy: dict[Supervisor, str] = {}
        self._stopped: set[str] = set()
        self._marker = cleanup.new_marker()
        self._janitor = cleanup.hire(self._marker)

    def run(self, job: Job, session: Session) -> Outcome:
        """Do one job to its end, or raise if its client called it back."""
        place = self._borrow(session)
        try:
            place.start(job)
            while (outcome := place.poll()) is None:
                if session.token in self._stopped:
                    raise RuntimeError("called back by the client")
                wait_for_news([place], POLL_SECONDS)
        except BaseException:
            place.close()
            raise
        finally:
            self._give_back(place)
        return outcome

    def stop(self, token: str) -> None:
        """End the jobs and the workers of one client."""
        with self._lock:
            self._stopped.add(token)
            ours = [place for owner, place in self._idle if owner == token]
            self._idle = [(owner, place) for owner, place in self._idle if owner != token]
        for place in ours:
            place.close()

    def _borrow(self, session: Session) -> Supervisor:
        """An idle supervisor of this client; those of clients past are dismissed."""
        with self._lock:
            others = [place for owner, place in self._idle if owner != session.token]
            ours = [pair for pair in self._idle if pair[0] == session.token]
            place = ours.pop()[1] if ours else self._new(session)
            self._idle = ours
            self._busy[place] = session.token
        for other in others:
            other.close()
        return place

    def _new(self, session: Session) -> Supervisor:
        os.environ[plugins.VARIABLE] = session.plugins
        return Supervisor("cluster", self._marker, session.limits)

    def _give_back(self, place: Supervisor) -> None:
        with self._lock:
            token = self._busy.pop(place)
            if token not in self._stopped:
                self._idle.append((token, place))
                return
        place.close()


_pool: SupervisorPool | None = None
_pool_lock = threading.Lock()


def run_supervised(job: Job, session: Session) -> Outcome:
    """One job in a supervised worker of this cluster process."""
    outcome = _the_pool().run(job, session)
    return replace(outcome, environment=machine.describe())


def stop_session(token: str) -> None:
    """End what one client still has running in this cluster process."""
    _the_pool().stop(token)


def _the_pool() -> SupervisorPool:
    global _pool
    with _pool_lock:
        if _pool is None:
            _pool = SupervisorPool()
        return _pool


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
            environment=machine.describe()["id"],
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
        ours = machine.versions()
        answers: dict[str, Any] = self._client.run(
            machine.versions, workers=newcomers, on_error="return"
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
