"""Rounds of fits in which the engines take turns, so that a busy moment hits them all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType

from experiments.bench.cases import Case, Timing, make_data, save_data

ENGINES: dict[str, str] = {
    "compiled": "compiled engine",
    "tensorflow": "reference engine (TensorFlow)",
    "authors": "authors' package",
}
OWN_ENGINES = ("compiled", "tensorflow")

_REPOSITORY = Path(__file__).resolve().parents[2]
_THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
_TENSORFLOW_THREADS = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
_ONE_THREAD = dict.fromkeys(_THREADS + _TENSORFLOW_THREADS, "1")


class WorkerError(RuntimeError):
    """A worker process ended instead of answering."""


@dataclass(frozen=True)
class Interpreters:
    """The Python of each engine; that of the authors' package only if the user named one."""

    own: Path = Path(sys.executable)
    authors: Path | None = None

    def command(self, engine: str) -> list[str]:
        """How to start the worker of an engine."""
        if engine != "authors":
            return [str(self.own), "-m", "experiments.bench.engine_worker", engine]
        if self.authors is None:
            raise ValueError(
                "timing the authors' package needs an interpreter that has it: "
                "pip install GradTree into a Python 3.11 of its own and name it with "
                "--authors-python or GRADTREE_AUTHORS_PYTHON"
            )
        return [str(self.authors), "-m", "experiments.bench.authors_worker"]


class Worker:
    """A process with one engine, on one core with one thread."""

    def __init__(self, engine: str, interpreters: Interpreters) -> None:
        self.engine = engine
        self._complaints = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115 (closed on exit)
        self._process = subprocess.Popen(
            interpreters.command(engine),
            cwd=_REPOSITORY,
            env={**os.environ, **_ONE_THREAD, "TF_CPP_MIN_LOG_LEVEL": "3"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
        )

    def fit(self, case: Case, data: Path) -> Timing:
        """Time one fit to the rows stored in ``data``."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"case": asdict(case), "data": str(data)}) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise WorkerError(f"{ENGINES[self.engine]}, {case.name}: {self._last_words()}")
        return Timing.from_json(json.loads(answer))

    def _last_words(self) -> str:
        status = self._process.wait()
        self._complaints.seek(0)
        lines = self._complaints.read().strip().splitlines()
        return f"process ended with status {status}: {lines[-1] if lines else 'no message'}"

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if error is not None:
            self._process.terminate()
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._complaints.close()


@dataclass(frozen=True)
class TimedFit:
    """One timed fit."""

    group: str
    case: Case
    engine: str
    repeat: int
    timing: Timing


@dataclass(frozen=True)
class TimingPlan:
    """What to time.

    Attributes
    ----------
    groups : the cases of each axis, smallest first, and the named cases.
    engines : by slug, in the order of their turns.
    repeats : fits of every engine for every case.
    longest_epoch : seconds; an engine is spared the larger cases of a group once an epoch of
        its last case took so long that the next is expected to take longer than this.
    """

    groups: dict[str, tuple[Case, ...]]
    engines: tuple[str, ...]
    repeats: int = 3
    longest_epoch: float = 20.0


Note = Callable[[TimedFit], None]


def measure(plan: TimingPlan, interpreters: Interpreters, note: Note) -> None:
    """Run every fit of a plan; ``note`` hears of each as it ends."""
    with ExitStack() as stack:
        workers = [stack.enter_context(Worker(name, interpreters)) for name in plan.engines]
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for group, cases in plan.groups.items():
            _measure_group(group, cases, workers, plan, folder, note)


def _measure_group(
    group: str,
    cases: Sequence[Case],
    workers: Sequence[Worker],
    plan: TimingPlan,
    folder: Path,
    note: Note,
) -> None:
    last: dict[str, tuple[Case, float]] = {}
    for case in cases:
        taking_part = [
            worker
            for worker in workers
            if worker.engine not in last
            or _expected(case, *last[worker.engine]) < plan.longest_epoch
        ]
        data = folder / "data.npz"
        save_data(make_data(case), data)
        for repeat in range(plan.repeats):
            for worker in taking_part:
                timing = worker.fit(case, data)
                last[worker.engine] = case, timing.epoch.cpu
                note(TimedFit(group, case, worker.engine, repeat, timing))


def _expected(case: Case, smaller: Case, seconds: float) -> float:
    """Seconds per epoch of a case if the dense formulation's cost decides."""
    return seconds * _dense_cost(case) / _dense_cost(smaller)


def _dense_cost(case: Case) -> float:
    return case.samples * case.features * 2.0**case.depth * case.depth
