"""Worker processes, one for each engine, that run fits on request."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType

from experiments.bench.cases import Case
from experiments.bench.serving import Timing

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
