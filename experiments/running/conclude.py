"""The end of a run: what there is now, what to do next, and the exit status."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from experiments.display.text import counts
from experiments.executors.contract import Limits
from experiments.planning.jobs import Job
from experiments.planning.todo import state_of
from experiments.records.store import Store

EXIT_DONE, EXIT_FAILED, EXIT_INCOMPLETE = 0, 1, 3


def conclude(jobs: Sequence[Job], store: Store, limits: Limits, interrupted: bool) -> int:
    """Print the summary of a run over all its jobs and return its exit status."""
    records = store.latest()
    statuses: Counter[str] = Counter(records[job.key].status for job in jobs if job.key in records)
    state = {job: state_of(job, records.get(job.key), limits) for job in jobs}
    states: Counter[str] = Counter(state.values())
    without_data = {job.dataset for job in jobs if state[job] == "unavailable"}
    print(f"\n{len(jobs):,} jobs: {counts(statuses)}; {states['pending']:,} still to run.")
    if states["failed"]:
        print("What failed and why: python -m experiments failures --store", store.folder)
    if states["unavailable"]:
        print(f"Skipped for want of data: {', '.join(sorted(without_data))}.")
        print("What to do about it: python -m experiments data")
    if interrupted or states["pending"]:
        if interrupted:
            print("Stopped. Nothing that had finished is lost.")
        print("Resume with:", resume_command())
        return EXIT_INCOMPLETE
    return EXIT_FAILED if statuses["error"] or statuses["crash"] else EXIT_DONE


def resume_command() -> str:
    """The command that goes on where this one stopped: the same again."""
    script = Path(sys.argv[0])
    program = ["-m", "experiments"] if script.name == "__main__.py" else [str(script)]
    return shlex.join(["python", *program, *sys.argv[1:]])
