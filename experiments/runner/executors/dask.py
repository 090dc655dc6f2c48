"""Jobs on a Dask cluster: the same supervised workers, on many machines.

Processes of the cluster whose versions, datasets, protocols or learners differ from this one's
are given no work. One that is lost is named, and its jobs are started again elsewhere. A cluster
without a scheduler, or for long without a process that may work, ends the run; what is done is
kept.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
import uuid
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from experiments.errors import CannotGoOnError
from experiments.runner import machine, registry
from experiments.runner.executors import Running
from experiments.runner.executors.supervisor import Supervisor, wait_for_news
from experiments.runner.run_job import Outcome, clean
from experiments.runs.job import Job, Limits, now
from experiments.text import duration, say

if TYPE_CHECKING:
    from distributed import Future

LOOK_SECONDS = 2.0
CONNECT_SECONDS = 30
PATIENCE_SECONDS = 120.0
"""How long a cluster may be without a process that may work."""
DIFFERENCES_SHOWN = 3


class ClusterLostError(CannotGoOnError):
    """There is no scheduler, or nobody who works for it."""


@dataclass(frozen=True)
class Client:
    """One stay of a client on the cluster, and what its jobs need there."""

    token: str
    limits: Limits
    plugins: str


# Inside the processes of the cluster.


@dataclass
class _Here:
    """The supervisors of this process, lent out to the threads that run jobs."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    idle: list[tuple[str, Supervisor]] = field(default_factory=list)
    stopped: set[str] = field(default_factory=set)


_here = _Here()


def run_supervised(job: Job, client: Client) -> Outcome:
    """One job in a supervised worker of this cluster process, or an error if it is called back."""
    with _here.lock:
        others = [place for token, place in _here.idle if token != client.token]
        _here.idle = [pair for pair in _here.idle if pair[0] == client.token]
        os.environ[registry.VARIABLE] = client.plugins
        place = _here.idle.pop()[1] if _here.idle else Supervisor("cluster", _limits(client.limits))
    for other in others:  # of clients past
        other.close()
    try:
        place.start(job)
        while (outcome := place.poll()) is None:
            if client.token in _here.stopped:
                raise RuntimeError("called back by the client")
            wait_for_news([place], 0.05)
    except BaseException:
        place.close()
        raise
    with _here.lock:
        _here.idle.append((client.token, place))
    if client.token in _here.stopped:
        stop_client(client.token)
    return replace(outcome, environment=outcome.environment or machine.describe())


def _limits(wanted: Limits) -> Limits:
    """What was asked for, but no more memory than a thread's share of this cluster process."""
    from distributed import get_worker

    worker = get_worker()
    own = worker.memory_manager.memory_limit
    memory_mb = own / 2**20 if own else 0.8 * machine.memory_mb()
    return replace(wanted, memory_mb=min(wanted.memory_mb, memory_mb / worker.state.nthreads))


def stop_client(token: str) -> None:
    """End what one client still has in this cluster process."""
    with _here.lock:
        _here.stopped.add(token)
        ours = [place for owner, place in _here.idle if owner == token]
        _here.idle = [pair for pair in _here.idle if pair[0] != token]
    for place in ours:
        place.close()


def identity(plugins: str) -> dict[str, str]:
    """Everything of this process that can change a score, name by name."""
    os.environ[registry.VARIABLE] = plugins
    return {
        **machine.versions(),
        **{f"dataset {s}": d.content_hash for s, d in registry.entries("dataset").items()},
        **{f"protocol {s}": p.version for s, p in registry.entries("protocol").items()},
        **{f"learner {s}": each.version for s, each in registry.entries("learner").items()},
    }


# Here.


@dataclass(frozen=True)
class _Flight:
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
        import distributed

        self._address = address
        try:
            self._dask = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as problem:
            raise ClusterLostError(
                f"no Dask scheduler answers at {address} ({problem}); "
                "start one with `dask scheduler` and workers with `dask worker`"
            ) from None
        self._client = Client(uuid.uuid4().hex, limits, os.environ.get(registry.VARIABLE, ""))
        self._flights: dict[Future, _Flight] = {}
        self._waiting: list[Job] = []
        self._landed: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._threads: dict[str, int] = {}
        self._places = 0
        self._fit: set[str] = set()
        self.refused: dict[str, str] = {}
        self._looked = 0.0
        self._someone_worked = time.monotonic()

    def free(self) -> int:
        self._look_around()
        return max(0, self._places - len(self._flights) - len(self._waiting))

    def start(self, job: Job) -> None:
        """Send a job out, or let it wait for somebody who may do it."""
        if not self._threads or self._dask.status != "running":
            self._waiting.append(job)
            return
        future = self._dask.submit(
            run_supervised,
            job,
            self._client,
            key=f"{job.key}-{uuid.uuid4().hex}",
            workers=list(self._threads),
            pure=False,
        )
        self._flights[future] = _Flight(job, time.monotonic(), frozenset(self._threads))
        future.add_done_callback(self._landed.put)

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
            if self._dask.status == "running":
                self._dask.cancel(list(self._flights), force=True)
                self._dask.run(stop_client, self._client.token, on_error="ignore")
        with contextlib.suppress(Exception):
            self._dask.close(timeout=CONNECT_SECONDS)

    def _collect(self, future: Future) -> Outcome | None:
        flight = self._flights.pop(future)
        if future.status == "finished":
            with contextlib.suppress(Exception):  # it was lost on the way
                outcome: Outcome = future.result(timeout=CONNECT_SECONDS)
                return outcome
        if future.status != "error":  # cancelled or lost: once more
            self.start(flight.job)
            return None
        problem = future.exception()
        last = getattr(getattr(problem, "last_worker", None), "address", "")
        where = f"with {last}: its process died again and again" if last else f"there: {problem!r}"
        environment = machine.describe()
        run = flight.job.run(
            "crash",
            reason=clean(f"lost on the cluster {where}", "reason", keep_start=True),
            environment=environment["id"],
            finished=now(),
        )
        return Outcome(run, None, environment)

    def _look_around(self) -> None:
        """See who is there now and fits; move jobs away from who is gone."""
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return
        workers = self._workers()
        self._check([address for address in workers if address not in self._fit])
        self._looked = time.monotonic()
        for address in self._threads.keys() - workers.keys():
            say(f"{address} is gone; what it was doing is started again elsewhere")
        self._threads = {who: threads for who, threads in workers.items() if who in self._fit}
        self._places = sum(self._threads.values())
        stranded = [f for f, flight in self._flights.items() if not flight.allowed & set(workers)]
        for future in stranded:
            self._waiting.append(self._flights.pop(future).job)
            with contextlib.suppress(Exception):  # the scheduler may be gone, too
                self._dask.cancel([future], force=True)
        if self._threads:
            self._someone_worked = time.monotonic()
            waiting, self._waiting = self._waiting, []
            for job in waiting:
                self.start(job)
        elif time.monotonic() - self._someone_worked > PATIENCE_SECONDS:
            refused = "".join(f"; {w} is given no work: {why}" for w, why in self.refused.items())
            raise ClusterLostError(
                f"no workers at {self._address} for {duration(PATIENCE_SECONDS)}; start some "
                f"with `dask worker {self._address}`{refused}"
            )

    def _workers(self) -> dict[str, int]:
        """Address -> threads; nobody while the connection is being made anew."""
        if self._dask.status == "closed":
            raise ClusterLostError(f"the Dask scheduler at {self._address} is gone")
        if self._dask.status != "running":
            return {}
        try:
            found = self._dask.scheduler_info(n_workers=-1).get("workers", {})
        except (OSError, TimeoutError, RuntimeError):
            return {}
        return {address: info["nthreads"] for address, info in found.items()}

    def _check(self, newcomers: list[str]) -> None:
        """Refuse processes that could give other numbers."""
        unknown = [address for address in newcomers if address not in self.refused]
        if not unknown:
            return
        plugins = self._client.plugins
        try:
            answers: dict[str, Any] = self._dask.run(
                identity, plugins, workers=unknown, on_error="return"
            )
        except (OSError, TimeoutError, RuntimeError, ValueError):
            return  # they have left again, or will be asked at the next look
        ours = identity(plugins)
        for address, theirs in answers.items():
            found = differing(ours, theirs) if isinstance(theirs, dict) else repr(theirs)
            if found:
                self.refused[address] = clean(found, "reason", keep_start=True)
                say(f"{address} is given no work: {self.refused[address]}")
            else:
                self._fit.add(address)


def differing(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """What has another version there, for people; empty if nothing has."""
    found = [
        f"{name} is {theirs.get(name, 'missing'):.12} there, {ours.get(name, 'missing'):.12} here"
        for name in sorted(ours.keys() | theirs.keys())
        if ours.get(name) != theirs.get(name)
    ]
    more = len(found) - DIFFERENCES_SHOWN
    return ", ".join([*found[:DIFFERENCES_SHOWN], *([f"and {more} more"] if more > 0 else [])])
