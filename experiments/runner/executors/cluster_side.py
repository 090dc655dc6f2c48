"""What runs inside the processes of a Dask cluster: supervised jobs, and who one is."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, replace

from experiments.core import machine
from experiments.core.job import Job, Limits
from experiments.core.record import Outcome
from experiments.runner import plugins
from experiments.runner.executors import process
from experiments.runner.executors.local import Supervisor, wait_for_news

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
        self._marker = process.new_marker()
        self._janitor = process.hire(self._marker)

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


def identity(plugin_names: str) -> dict[str, str]:
    """Everything of this process that can change a score, name by name."""
    os.environ[plugins.VARIABLE] = plugin_names
    return {
        **machine.versions(),
        **{f"dataset {slug}": plugins.facts(slug).content_hash for slug in plugins.dataset_slugs()},
        **{f"protocol {name}": plugins.protocol_version(name) for name in plugins.protocols()},
        **{f"learner {slug}": plugins.learner(slug).version for slug in plugins.method_slugs()},
    }
