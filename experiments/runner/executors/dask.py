"""Jobs on a Dask cluster: the same supervised workers, on many machines.

Processes whose versions, datasets, protocols or learners differ from this one's are given no work.
One that is lost is named, and its jobs are started again elsewhere. A cluster without a scheduler,
or for long without a process that may work, ends the run; what is done is kept.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from experiments.errors import CannotGoOnError
from experiments.runner import machine, registry
from experiments.runner.executors import Running
from experiments.runner.executors.supervisor import LOOK_SECONDS, Supervisor, wait_for_news
from experiments.runner.run_job import Outcome, clean, ended
from experiments.runs.schema import Job, Limits
from experiments.text import duration, say

if TYPE_CHECKING:
    from distributed import Future

GLANCE_SECONDS = 2.0
CONNECT_SECONDS = 30
PATIENCE_SECONDS = 120.0
"""How long a cluster may be without a process that may work."""


# Inside the processes of the cluster, whose threads run jobs in supervisors they lend out.

_lock = threading.Lock()
_idle: dict[tuple[str, int], Supervisor] = {}
"""By client and thread."""
_stopped: set[str] = set()


def run_supervised(job: Job, client: str, limits: Limits, plugins: str) -> Outcome:
    """One job in a supervised worker of this cluster process, or an error if it is called back."""
    from distributed import get_worker

    _close_idle(lambda owner: owner != client)  # of clients past
    os.environ[registry.VARIABLE] = plugins
    mine = client, threading.get_ident()
    with _lock:
        place = _idle.pop(mine, None)
    if place is None:
        worker = get_worker()
        own = worker.memory_manager.memory_limit
        memory_mb = own / 2**20 if own else 0.8 * machine.memory_mb()
        share = min(limits.memory_mb, memory_mb / worker.state.nthreads)
        place = Supervisor("cluster", replace(limits, memory_mb=share))
    try:
        place.start(job)
        while (outcome := place.poll()) is None:
            if client in _stopped:
                raise RuntimeError("called back by the client")
            wait_for_news([place], LOOK_SECONDS)
    except BaseException:
        place.close()
        raise
    with _lock:
        _idle[mine] = place
    if client in _stopped:
        stop_client(client)
    return replace(outcome, environment=outcome.environment or machine.describe())


def _close_idle(unwanted: Callable[[str], bool]) -> None:
    """Close the idle supervisors of some clients."""
    with _lock:
        closing = [_idle.pop(who) for who in list(_idle) if unwanted(who[0])]
    for place in closing:
        place.close()


def stop_client(client: str) -> None:
    """End what one client still has in this cluster process."""
    _stopped.add(client)
    _close_idle(lambda owner: owner == client)


def identity(plugins: str) -> dict[str, str]:
    """Everything of this process that can change a score, name by name."""
    os.environ[registry.VARIABLE] = plugins
    found = dict(machine.versions())
    for kind in ("dataset", "protocol", "learner"):
        field = "content_hash" if kind == "dataset" else "version"
        found |= {f"{kind} {s}": getattr(e, field) for s, e in registry.entries(kind).items()}
    return found


# Here.


class DaskExecutor:
    """Runs as many jobs at a time as the cluster at an address (``tcp://…``) has threads."""

    def __init__(self, address: str, limits: Limits) -> None:
        import distributed

        self._address = address
        try:
            self._dask = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as problem:
            raise CannotGoOnError(
                f"no Dask scheduler answers at {address} ({problem}); "
                "start one with `dask scheduler` and workers with `dask worker`"
            ) from None
        self._client, self._limits = uuid.uuid4().hex, limits
        self._plugins = os.environ.get(registry.VARIABLE, "")
        self._flights: dict[Future, tuple[Job, float, set[str]]] = {}
        """Jobs that are out, since when, and the processes that may do them."""
        self._waiting: list[Job] = []
        self._landed: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._threads: dict[str, int] = {}
        self._fit: set[str] = set()
        self.refused: dict[str, str] = {}
        self._looked = 0.0
        self._someone_worked = time.monotonic()

    def free(self) -> int:
        self._look_around()
        return max(0, sum(self._threads.values()) - len(self._flights) - len(self._waiting))

    def start(self, job: Job) -> None:
        """Send a job out, or let it wait for somebody who may do it."""
        if not self._threads or self._dask.status != "running":
            self._waiting.append(job)
            return
        name, workers = f"{job.key}-{uuid.uuid4().hex}", list(self._threads)
        given = (job, self._client, self._limits, self._plugins)
        future = self._dask.submit(run_supervised, *given, key=name, workers=workers, pure=False)
        self._flights[future] = job, time.monotonic(), set(self._threads)
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
        out = [Running(job, at - since, "cluster") for job, since, _ in self._flights.values()]
        return [*out, *(Running(job, 0.0, "waiting") for job in self._waiting)]

    def close(self) -> None:
        """Call back what is out; the cluster itself stays."""
        with contextlib.suppress(Exception):  # the cluster may be gone
            if self._dask.status == "running":
                self._dask.cancel(list(self._flights), force=True)
                self._dask.run(stop_client, self._client, on_error="ignore")
        with contextlib.suppress(Exception):
            self._dask.close(timeout=CONNECT_SECONDS)

    def _collect(self, future: Future) -> Outcome | None:
        job, *_ = self._flights.pop(future)
        if future.status == "finished":
            with contextlib.suppress(Exception):  # it was lost on the way
                outcome: Outcome = future.result(timeout=CONNECT_SECONDS)
                return outcome
        if future.status != "error":  # cancelled or lost: once more
            self.start(job)
            return None
        problem = future.exception()
        last = getattr(getattr(problem, "last_worker", None), "address", "")
        where = f"with {last}: its process died again and again" if last else f"there: {problem!r}"
        return ended(job, "crash", f"lost on the cluster {where}")

    def _look_around(self) -> None:
        """See who is there now and fits; move jobs away from who is gone."""
        if time.monotonic() - self._looked < GLANCE_SECONDS:
            return
        workers = self._workers()
        self._check([a for a in workers if a not in self._fit and a not in self.refused])
        self._looked = time.monotonic()
        for address in self._threads.keys() - workers.keys():
            say(f"{address} is gone; what it was doing is started again elsewhere")
        self._threads = {who: threads for who, threads in workers.items() if who in self._fit}
        stranded = [f for f, (_, _, who) in self._flights.items() if not who & set(workers)]
        for future in stranded:
            self._waiting.append(self._flights.pop(future)[0])
            with contextlib.suppress(Exception):  # the scheduler may be gone, too
                self._dask.cancel([future], force=True)
        if self._threads:
            self._someone_worked = time.monotonic()
            waiting, self._waiting = self._waiting, []
            for job in waiting:
                self.start(job)
        elif time.monotonic() - self._someone_worked > PATIENCE_SECONDS:
            refused = "".join(f"; {w} is given no work: {why}" for w, why in self.refused.items())
            raise CannotGoOnError(
                f"no workers at {self._address} for {duration(PATIENCE_SECONDS)}; start some "
                f"with `dask worker {self._address}`{refused}"
            )

    def _workers(self) -> dict[str, int]:
        """Address -> threads; nobody while the connection is being made anew."""
        if self._dask.status == "closed":
            raise CannotGoOnError(f"the Dask scheduler at {self._address} is gone")
        if self._dask.status != "running":
            return {}
        with contextlib.suppress(OSError, TimeoutError, RuntimeError):
            found = self._dask.scheduler_info(n_workers=-1).get("workers", {})
            return {address: info["nthreads"] for address, info in found.items()}
        return {}

    def _check(self, newcomers: list[str]) -> None:
        """Refuse processes that could give other numbers."""
        answers, ours = dict[str, Any](), dict[str, str]()
        # Those that have left again, or do not answer, are asked at the next look.
        with contextlib.suppress(OSError, TimeoutError, RuntimeError, ValueError):
            if newcomers:
                ask, ours = self._dask.run, identity(self._plugins)
                answers = ask(identity, self._plugins, workers=newcomers, on_error="return")
        for address, theirs in answers.items():
            found = differing(ours, theirs) if isinstance(theirs, dict) else repr(theirs)
            if found:
                self.refused[address] = clean(found, "reason", keep_start=True)
                say(f"{address} is given no work: {self.refused[address]}")
            else:
                self._fit.add(address)


def differing(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """What has another version there, for people; empty if nothing has."""
    return ", ".join(
        f"{name} is {theirs.get(name, 'missing'):.12} there, {ours.get(name, 'missing'):.12} here"
        for name in sorted(ours.keys() | theirs.keys())
        if ours.get(name) != theirs.get(name)
    )
