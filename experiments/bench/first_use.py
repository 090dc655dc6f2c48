"""What a process spends before a learner's first result: starting, importing, compiling.

Each learner fits one small dataset twice in a process of its own, first with
an empty cache of compiled kernels and then with a full one. The first fit
minus the second is what the first use costs.
"""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from experiments.core.files import write_files

DATASET, PROTOCOL = "iris", "paper"
START = "start"
FILE = "first_use.csv"

_PROGRAM = f"""
import json, sys, time
from experiments.runner import plugins
from experiments.runner.perform import load_split
plugins.method_slugs()
split = load_split({DATASET!r}, {PROTOCOL!r}, 0)
spent = [time.process_time()]
learner = plugins.learner(sys.argv[1])
if learner.why_not(split.n_features, split.n_classes) is None:
    params = learner.defaults(split.task)
    for _ in range(2):
        learner.fit(split, params, 42)
        spent.append(time.process_time())
print(json.dumps(spent))
"""


def measure(learner: str, cache: Path) -> tuple[float, float] | None:
    """Processor seconds of starting and of a first use; ``None`` where the learner declines."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, learner],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    spent = json.loads(done.stdout.splitlines()[-1])
    if len(spent) < 3:
        return None
    start, first, second = spent
    return start, max(0.0, (first - start) - (second - first))


def table(learners: list[str]) -> str:
    """``first_use.csv``: a line for starting, and one per learner."""
    starts: list[float] = []
    rows: list[tuple[str, float, float]] = []
    for learner in learners:
        with tempfile.TemporaryDirectory() as cache:
            cold, warm = measure(learner, Path(cache)), measure(learner, Path(cache))
        if cold is None or warm is None:
            continue
        starts.append(warm[0])
        rows.append((learner, warm[1], max(0.0, cold[1] - warm[1])))
        print(f"{learner}: imports {warm[1]:.1f} s, compiling {rows[-1][2]:.1f} s", flush=True)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["learner", "import_seconds", "compile_seconds"])
    writer.writerow([START, f"{sum(starts) / len(starts):.1f}", "0.0"])
    writer.writerows(
        [name, f"{imports:.1f}", f"{compiling:.1f}"] for name, imports, compiling in rows
    )
    return text.getvalue()


def write(output: Path, learners: list[str]) -> Path:
    """Measure and write the table."""
    write_files(output, {FILE: table(learners)})
    return output / FILE
