"""A session: what it keeps, claims, shows, and costs."""

import contextlib
import io
import itertools
import os
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import psutil
import pytest
from runner_helpers import fake_job, job_of, run_all

from experiments.runner import session
from experiments.runner.executors import InlineExecutor, LocalExecutor
from experiments.runner.executors.supervisor import ROOT, python_environment
from experiments.runner.plan import Plan, Queue
from experiments.runner.run_job import Outcome
from experiments.runner.session import Display, Session, name_of, owner_name
from experiments.runs.schema import Job, Limits
from experiments.runs.store import Store

pytestmark = pytest.mark.usefixtures("fakes")


class Changed(InlineExecutor):
    """An executor whose outcomes are changed on their way."""

    def __init__(self, **changes: Any) -> None:
        super().__init__()
        self._changes = changes

    def wait(self, seconds: float) -> list[Outcome]:
        return [replace(o, run={**o.run, **self._changes}) for o in super().wait(seconds)]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"tree_size": 10**30}, "tree_size is beyond"),
        ({"trial": 7}, "is not that of its columns"),
        ({"traceback": "x" * 10**6}, "traceback has 1,000,000 characters"),
    ],
)
def test_a_row_that_is_no_run_is_stored_as_an_error(changes, reason, tmp_path):
    jobs = [fake_job("good", trial) for trial in range(2)]
    summary = Session(Queue(jobs), Store(tmp_path), Changed(**changes)).run()
    assert summary.statuses == {"error": 2}
    for job in jobs:
        run = Store(tmp_path).run(job.key)
        assert reason in run["reason"]
        assert Store(tmp_path).predictions(job.key) is None


def test_an_interrupt_keeps_what_is_done_and_leaves_no_claim(tmp_path):
    class Impatient(InlineExecutor):
        def wait(self, seconds: float) -> list[Outcome]:
            if len(Store(tmp_path).statuses()) == 2:
                raise KeyboardInterrupt
            return super().wait(seconds)

    jobs = [fake_job("good", trial) for trial in range(5)]
    summary = Session(Queue(jobs), Store(tmp_path), Impatient()).run()
    assert (summary.interrupted, summary.statuses) == (True, {"ok": 2})
    assert not Store(tmp_path).connect().execute("SELECT * FROM running").fetchall()


def test_what_another_session_did_is_taken_over(tmp_path):
    """One job is done, one was stopped at its limit, one is being done and then left undone."""
    jobs = [fake_job("trivial", trial, n=n) for n in range(3) for trial in range(2)]
    done, limited, left = jobs[0], jobs[2], jobs[4]
    other = Store(tmp_path)

    class Meanwhile(InlineExecutor):
        """The other session works while this one does its first job."""

        def wait(self, seconds: float) -> list[Outcome]:
            if not other.statuses():
                finished = "2999-01-01T00:00:00.000Z"
                ended = InlineExecutor()
                (good,) = run_all(ended, [done]).values()
                limit = limited.run("timeout", reason="more than 1 s", limit_value=1.0)
                other.add([good.run, {**limit, "finished": finished}])
                other.release("another")
                other.claim(left.key, "nobody lives here 1 1")
                other.connect().execute("UPDATE running SET beat = 0 WHERE owner LIKE 'nobody%'")
            return super().wait(seconds)

    for job in (done, limited, left):
        assert other.claim(job.key, "another")
    Session(Queue([jobs[1], *jobs]), Store(tmp_path), Meanwhile()).run()
    statuses = {key: run["status"] for key, run in Store(tmp_path).statuses().items()}
    assert len(statuses) == 6
    assert [statuses[job.key] for job in (done, limited, left)] == ["ok", "timeout", "ok"]


def test_claims_of_the_dead_are_forgotten_at_once(tmp_path):
    job = fake_job("good")
    place = owner_name().rsplit(" ", 2)[0]
    assert Store(tmp_path).claim(job.key, f"{place} 999999 1.00")
    began = time.monotonic()
    assert Session(Queue([job]), Store(tmp_path), InlineExecutor()).run().statuses == {"ok": 1}
    assert time.monotonic() - began < 10


def test_jobs_are_named_so_that_people_can_tell_them_apart():
    job = fake_job("good", 3, shift=2, seconds=0.0)
    assert name_of(job) == "paper/default fake-two fake-good trial 3"
    assert name_of(replace(job, seed=7)).endswith("trial 3, seed 7")
    candidate = replace(job, experiment="search", evaluation="cv:3")
    assert name_of(candidate) == "paper/search fake-two fake-good with shift 2, seconds 0.0"
    moved = fake_job("good", perturbation=4)
    assert name_of(moved).endswith("trial 0, perturbation 4")


def test_lines_tell_how_far_a_run_is(monkeypatch, capsys):
    jobs = [fake_job("good", trial) for trial in range(4)]
    now = [0.0]
    plan = Plan(jobs, jobs, {job.key: 10.0 for job in jobs})
    shown = Display(plan, 2, clock=lambda: now[0])
    shown.ended(jobs[0].run("ok", test_f1=0.5))
    now[0] = 10.0
    running = [(jobs[1], 12.0)]
    shown.tick(running)
    first = capsys.readouterr().out
    assert first.endswith("[1/4] paper/default fake-two fake-good trial 0: F1 0.500\n")
    assert "left" not in first, "not before half a minute has passed"
    monkeypatch.setattr(session, "PROGRESS_SECONDS", 0.0)
    shown.tick(running)
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith("running paper/default fake-two fake-good trial 1 for 12 s")
    assert said[1].endswith("1 of 4 jobs in 10 s, about 30 s left")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_failures_stay_and_others_pass(monkeypatch):
    jobs = [fake_job("good", trial) for trial in range(3)]
    monkeypatch.setattr(sys, "stdout", screen := Terminal())
    shown = Display(Plan(jobs, jobs, {job.key: 10.0 for job in jobs}), 2)
    shown.ended(jobs[0].run("ok", test_f1=0.5))
    shown.ended(jobs[1].run("crash", reason="killed by SIGSEGV"))
    shown.ended(jobs[2].run("ok", test_f1=0.5))
    shown.close()
    parts = screen.getvalue().split("\r\033[K")
    assert [part.count("\n") for part in parts] == [0, 0, 1, 1]
    assert "[1/3 in " in parts[1]
    assert "about" in parts[1]
    assert "killed by SIGSEGV\n" in parts[2]


class HungUp(Terminal):
    """A terminal that is closed at a certain write."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self.left = last
        closed = ValueError("I/O operation on closed file")
        self._problem = closed if last % 2 else OSError(5, "Input/output error")

    def write(self, text: str) -> int:
        self.left -= 1
        if self.left < 0:
            raise self._problem
        return super().write(text)


@pytest.mark.parametrize("last", range(5))
def test_a_terminal_that_closes_at_any_write_does_not_end_the_run(last, tmp_path, monkeypatch):
    jobs = [fake_job("good", trial) for trial in range(4)]
    monkeypatch.setattr(sys, "stdout", HungUp(last))
    shown = Display(Plan(jobs, jobs, dict.fromkeys([job.key for job in jobs], 1.0)), 1)
    queue = Queue(jobs, give_up=False)
    summary = Session(queue, Store(tmp_path), InlineExecutor(), shown).run()
    assert summary.statuses == {"ok": 4}


SBATCH = """#!/bin/sh
cat > task.sh
for number in 1 2; do
    SLURM_ARRAY_TASK_ID=$number SLURM_ARRAY_TASK_COUNT=2 sh task.sh || exit
done
"""


def test_the_recipe_for_slurm_works_when_pasted(tmp_path, monkeypatch):
    """With an ``sbatch`` that runs the tasks of an array one after the other."""
    text = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    (recipe,) = [part for part in text.split("```") if "sbatch" in part]
    few = "--profile paper --dataset wine --method cart,cart-pruned --experiment default --inline"
    for old, new in ((".venv/bin/python", sys.executable), ("--profile paper", few)):
        assert old in recipe
        recipe = recipe.replace(old, new)
    (tmp_path / "sbatch").write_text(SBATCH)
    (tmp_path / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("GRADTREE_SOURCES", "installed")
    done = subprocess.run(
        ["sh", "-e", "-c", recipe.removeprefix("bash")],
        cwd=tmp_path, env=python_environment(), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    shares = [Store(tmp_path / "shards" / name).statuses() for name in "12"]
    assert [len(share) for share in shares] == [10, 10]
    assert Store(tmp_path / ".runs").statuses() == shares[0] | shares[1]
    assert {run["status"] for run in (shares[0] | shares[1]).values()} == {"ok"}


numbers = itertools.count(1)


def millisecond_fits(count: int) -> list[Job]:
    """Of a learner of the suite."""
    return [
        job_of("cart", "fake-two", i % 10, max_depth=1, min_samples_leaf=next(numbers))
        for i in range(count)
    ]


def test_a_job_costs_at_most_15_ms_of_processor_time(tmp_path, monkeypatch):
    executor = LocalExecutor(2, Limits(seconds=60))
    run_all(executor, millisecond_fits(4))

    def spent() -> float:
        """Here and in the workers."""
        keepers = [psutil.Process(place._keeper.pid) for place in executor._idle]
        times = [each.cpu_times() for keeper in keepers for each in (keeper, *keeper.children())]
        assert len(times) == 4
        return time.process_time() + sum(t.user + t.system for t in times)

    with contextlib.closing(executor), monkeypatch.context() as patch:
        patch.setattr(executor, "close", lambda: None)  # workers stay warm, and are timed
        began, store = spent(), Store(tmp_path)
        summary = Session(Queue(millisecond_fits(200), give_up=False), store, executor).run()
        assert summary.statuses == {"ok": 200}
        taken = (spent() - began) / 200 - store.frame()["cpu_seconds"].mean()
    print(f"{1000 * taken:.1f} ms a job")
    assert taken < 0.015
