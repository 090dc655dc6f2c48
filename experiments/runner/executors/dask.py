"""Jobs on a Dask cluster: the same supervised workers, on many machines.

Processes whose versions, datasets, protocols or learners differ from this one's are given no work.
One that is lost is named, and its jobs are started again elsewhere. A cluster without a scheduler,
or for long without a process that may work, ends the run; what is done is kept.
"""

from __future__ import annotations

import contextlib
import os
import queue
import time
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from experiments.errors import CannotGoOnError
from experiments.runner import machine, registry
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

_idle: dict[str, list[Supervisor]] = {}
"""By client."""
_stopped: set[str] = set()


def run_supervised(job: Job, client: str, limits: Limits, plugins: str) -> Outcome:
    """One job in a supervised worker of this cluster process, or an error if it is called back."""
    from distributed import get_worker

    for other in [each for each in _idle if each != client]:  # of clients past
        close_idle(other)
    os.environ[registry.VARIABLE] = plugins
    try:
        place = _idle.setdefault(client, []).pop()
    except IndexError:
        worker = get_worker()
        own = worker.memory_manager.memory_limit
        memory_mb = own / 2**20 if own else 0.8 * machine.memory_mb()
        share = min(limits.memory_mb, memory_mb / worker.state.nthreads)
        place = Supervisor(replace(limits, memory_mb=share))
    try:
        place.start(job)
        while (outcome := place.poll()) is None:
            if client in _stopped:
                raise RuntimeError("called back by the client")
            wait_for_news([place], LOOK_SECONDS)
    except BaseException:
        place.close()
        raise
    _idle.setdefault(client, []).append(place)
    if client in _stopped:
        close_idle(client)
    return outcome


def close_idle(client: str) -> None:
    for place in _idle.pop(client, []):
        place.close()


def stop_client(client: str) -> None:
    """End what one client still has in this cluster process."""
    _stopped.add(client)
    close_idle(client)


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
        self.refused: dict[str, str] = {}
        """Why each process is; empty for one that fits."""
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
        outcomes = list[Outcome]()
        with contextlib.suppress(queue.Empty):
            while True:
                future = self._landed.get(timeout=0 if outcomes else seconds)
                if future in self._flights and (outcome := self._collect(future)) is not None:
                    outcomes.append(outcome)
        return outcomes

    def running(self) -> list[tuple[Job, float]]:
        at = time.monotonic()
        out = [(job, at - since) for job, since, _ in self._flights.values()]
        return [*out, *((job, 0.0) for job in self._waiting)]

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
        if self._dask.status == "closed":
            raise CannotGoOnError(f"the Dask scheduler at {self._address} is gone")
        workers = {}  # nobody while the connection is being made anew
        with contextlib.suppress(OSError, TimeoutError, RuntimeError):
            if self._dask.status == "running":
                workers = self._dask.scheduler_info(n_workers=-1).get("workers", {})
        self._check([address for address in workers if address not in self.refused])
        self._looked = time.monotonic()
        for address in self._threads.keys() - workers.keys():
            say(f"{address} is gone; what it was doing is started again elsewhere")
        fit = [who for who in workers if self.refused.get(who) == ""]
        self._threads = {who: workers[who]["nthreads"] for who in fit}
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
            told = [f"; {w} is given no work: {why}" for w, why in self.refused.items() if why]
            raise CannotGoOnError(
                f"no workers at {self._address} for {duration(PATIENCE_SECONDS)}; start some "
                f"with `dask worker {self._address}`{''.join(told)}"
            )

    def _check(self, newcomers: list[str]) -> None:
        """Refuse processes that could give other numbers."""
        answers, ours = dict[str, Any](), identity(self._plugins) if newcomers else {}
        # Those that have left again, or do not answer, are asked at the next look.
        with contextlib.suppress(OSError, TimeoutError, RuntimeError, ValueError):
            how: dict[str, Any] = {"workers": newcomers, "on_error": "return"}
            answers = self._dask.run(identity, self._plugins, **how) if newcomers else {}
        for address, theirs in answers.items():
            why = differing(ours, theirs) if isinstance(theirs, dict) else repr(theirs)
            self.refused[address] = clean(why, "reason", keep_start=True)
            if why:
                say(f"{address} is given no work: {self.refused[address]}")


def differing(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """What has another version there, for people; empty if nothing has."""
    names = sorted({name for name, _ in ours.items() ^ theirs.items()})
    both = [(name, theirs.get(name, "missing"), ours.get(name, "missing")) for name in names]
    return ", ".join(f"{name} is {there:.12} there, {here:.12} here" for name, there, here in both)
