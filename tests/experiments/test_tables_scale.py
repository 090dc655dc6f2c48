"""Tables and verdicts are quick, and need neither TensorFlow nor a learner's library."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace

from tables_support import paper_as_ours

from experiments.analysis.findings import findings_of
from experiments.analysis.paper import load_paper
from experiments.render.files import files_of

PAPER = load_paper()
MANY = 100_000


def test_a_hundred_thousand_records_take_seconds():
    jobs, records = paper_as_ours(PAPER)
    more_jobs, more = list(jobs), dict(records)
    round_ = 1
    while len(more) < MANY:
        for job in jobs:
            other = replace(job, trial=job.trial + 10 * round_)
            more_jobs.append(other)
            more[other.key] = replace(records[job.key], key=other.key, trial=other.trial)
        round_ += 1
    began = time.perf_counter()
    found = findings_of(more_jobs, more, paper=PAPER)
    files = files_of(found)
    seconds = time.perf_counter() - began
    assert len(files) > 40
    assert found.table_sets["paper"].tables["test-f1-tuned"].cell("iris", "cart").n == 10 * round_
    assert seconds < 30


def test_neither_tensorflow_nor_learners_are_imported():
    program = """
import sys
from experiments.analysis.findings import findings_of
from experiments.render.files import files_of
found = findings_of([], {})
files_of(found)
heavy = {"tensorflow", "keras", "sklearn", "numba", "optuna", "matplotlib", "pydl85", "gradtree"}
heavy |= {"baselines", "datasets"}
print(sorted(heavy & set(sys.modules)))
"""
    outcome = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert outcome.stdout.strip() == "[]"
