"""Every executor survives every misbehaviour: one class of tests, several back ends."""

import contextlib
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psutil
import pytest
from runner_helpers import (
    dask,
    descendants_left,
    fake_job,
    free_port,
    job_of,
    run_all,
    soon_gone,
    steady,
)

from experiments.runner.executors import Executor, InlineExecutor, LocalExecutor, supervisor
from experiments.runs.schema import Job, Limits, check

LIMITS = Limits(seconds=3.0, memory_mb=400.0)
Ended = dict[str, dict[str, Any]]

ERRORS = {
    "raises": "ValueError: no tree would grow",
    "exits": "SystemExit: 7",
    "overwrites": "ValueError: assignment destination is read-only",
    "unlocks": "ValueError: cannot set WRITEABLE flag to True of this array",
    "cheats": "AttributeError: 'Split' object has no attribute 'y_test'",
}
ODD_THINGS = {
    "nan": "no finite numbers",
    "label": "no classes 0..1",
    "shape": "shape (13, 2) for 12 rows",
    "nan-probabilities": "no finite numbers",
    "huge-probabilities": "no probabilities",
    "negative-classes": "classes_ are not distinct classes",
    "repeated-classes": "classes_ are not distinct classes",
    "fractional-classes": "classes_ are not distinct classes",
    "size": "'float' object cannot be interpreted as an integer",
    "extra": "characters, over 20,000",
    "object": "extra cannot be written as JSON",
    "overwrites": "read-only",
    "unlocks": "cannot set WRITEABLE flag to True of this array",
}
STATUSES = {
    "sleeps": ("timeout", "more than 3.0 s"),
    "forks-and-sleeps": ("timeout", "more than 3.0 s"),
    "prints-for-ever": ("timeout", "more than 3.0 s"),
    "stops-itself": ("timeout", "more than 3.0 s"),
    "allocates": ("memory", ""),
    "allocates-natively": ("memory", ""),
    "segfaults": ("crash", "killed by SIGSEGV"),
    "forks-and-segfaults": ("crash", "killed by SIGSEGV"),
    "aborts": ("crash", "killed by SIGABRT"),
    "exits-hard": ("crash", "exited with status 7"),
    "says-garbage": ("crash", "sent something unreadable"),
    "says-nested": ("crash", "sent something unreadable"),
    "says-half": ("crash", "sent half an answer"),
    "answers-for-another": ("crash", "sent something that is no answer"),
    "forks": ("ok", None),
    "forks-eight-times": ("ok", None),
}


def by_name(executor: Executor, jobs: dict[str, Job]) -> Ended:
    outcomes = run_all(executor, jobs.values())
    return {name: outcomes[job.key].run for name, job in jobs.items()}


class Behaviour:
    """What the inline executor can promise too; the class of a back end brings ``executor``."""

    @pytest.fixture(scope="class")
    @classmethod
    def ended(cls, executor: Executor) -> Ended:
        """The runs of all who fail in a way that Python sees, with good ones between them."""
        jobs = {name: fake_job(name) for name in (*ERRORS, "good", "picky", "lacking")}
        jobs |= {f"odd {kind}": fake_job("returns-odd-things", kind=kind) for kind in ODD_THINGS}
        jobs["labels only"] = fake_job("labels-only")
        jobs["other data"] = replace(fake_job("good"), content_hash="of other data")
        return by_name(executor, jobs)

    def test_a_success_is_complete(self, executor):
        job = fake_job("good", 3)
        outcome = run_all(executor, [job])[job.key]
        run = check(outcome.run)
        assert run["status"] == "ok"
        needed = ("test_f1", "wall_seconds", "environment", "finished", "peak_memory_mb")
        assert None not in [run[name] for name in needed]
        assert outcome.predictions
        assert outcome.environment
        assert outcome.environment["id"] == run["environment"]

    @pytest.mark.parametrize("method", ERRORS)
    def test_what_a_learner_raises_is_its_error(self, ended, method):
        run = check(ended[method])
        assert (run["status"], run["reason"]) == ("error", ERRORS[method])
        assert f"in {method.replace('-', '_')}" in run["traceback"]

    @pytest.mark.parametrize("kind", ODD_THINGS)
    def test_what_is_no_prediction_is_refused(self, ended, kind):
        run = check(ended[f"odd {kind}"])
        assert run["status"] == "error"
        assert ODD_THINGS[kind] in run["reason"]

    def test_a_learner_without_probabilities_is_welcome(self, ended):
        run = check(ended["labels only"])
        assert run["status"] == "ok"
        assert run["test_roc_auc"] is run["test_log_loss"] is run["test_brier"] is None
        assert "LabelsOnly has no predict_proba" in run["extra"]

    def test_skips_and_refusals(self, ended):
        assert ended["picky"]["reason"] == "too picky"
        assert ended["lacking"]["reason"] == "a_module_nobody_has not installed"
        assert ended["lacking"]["status"] == "skipped"
        assert "bring this checkout to the version" in ended["other data"]["reason"]

    def test_the_same_job_gives_the_same_run_everywhere(self, executor):
        jobs = [fake_job("good", trial) for trial in range(4)]
        here, there = run_all(InlineExecutor(), jobs), run_all(executor, jobs)
        for job in jobs:
            assert steady(here[job.key].run) == steady(there[job.key].run)
            assert here[job.key].predictions == there[job.key].predictions


class Supervision(Behaviour):
    """What takes a supervised process: limits, crashes, logs, and no child left."""

    @pytest.fixture(scope="class")
    @classmethod
    def survived(cls, executor: Executor) -> Ended:
        run_all(executor, [fake_job("good", trial) for trial in range(2)])  # workers are up
        jobs = {name: fake_job(name) for name in STATUSES}
        began = time.monotonic()
        ended = by_name(executor, jobs)
        slow = sum(status in ("timeout",) for status, _ in STATUSES.values()) + 2
        assert time.monotonic() - began < slow * (LIMITS.seconds + 5.0)
        return ended

    @pytest.mark.parametrize("method", STATUSES)
    def test_it_ends_within_its_limits(self, survived, method):
        run = check(survived[method])
        status, reason = STATUSES[method]
        assert run["status"] == status
        assert (run["reason"] or "").startswith(reason or "")

    def test_nobody_is_harmed_and_no_child_is_left(self, survived, executor):
        good = run_all(executor, [fake_job("good", trial) for trial in range(3)])
        assert {outcome.run["status"] for outcome in good.values()} == {"ok"}
        assert not [process for process in descendants_left() if process.name() == "sleep"]

    def test_what_a_learner_changes_does_not_reach_the_next_job(self, executor):
        cart = job_of("cart", "fake-three", max_depth=3)
        first = by_name(executor, {"cart": cart, "good": fake_job("good", 4)})
        assert first["cart"]["status"] == "ok"
        for trial in range(3):
            polluted = by_name(executor, {"bad": fake_job("pollutes", trial)})
            assert polluted["bad"]["status"] == "ok"
            again = by_name(executor, {"cart": cart, "good": fake_job("good", 4)})
            assert steady(again["cart"]) == steady(first["cart"])
            assert steady(again["good"]) == steady(first["good"])

    def test_limits_and_the_stack_of_a_crash_are_on_record(self, survived):
        assert survived["sleeps"]["limit_value"] == LIMITS.seconds
        assert survived["allocates"]["limit_value"] == LIMITS.memory_mb
        assert "in segfaults" in survived["segfaults"]["log_tail"]

    def test_logs_are_short_and_not_mixed_up(self, executor):
        jobs = {"much": fake_job("prints-and-raises"), "one": fake_job("raises")}
        ended = by_name(executor, {**jobs, "other": fake_job("raises", 1)})
        assert "the last line\nfrom a child\n" in ended["much"]["log_tail"]
        assert len(ended["much"]["log_tail"]) <= 4000
        assert [ended[n]["log_tail"] for n in ("one", "other")] == ["about to raise\n"] * 2


@pytest.mark.usefixtures("fakes")
class TestInline(Behaviour):
    @pytest.fixture(scope="class")
    @classmethod
    def executor(cls, fakes: None) -> Executor:
        return InlineExecutor()


@pytest.mark.usefixtures("fakes")
class TestLocal(Supervision):
    @pytest.fixture(scope="class")
    @classmethod
    def executor(cls, fakes: None) -> Iterator[Executor]:
        executor = LocalExecutor(2, LIMITS)
        yield executor
        executor.close()
        assert not descendants_left()

    def test_a_runner_stopped_between_two_jobs_ends_by_the_limit(self):
        cart = [job_of("cart", "fake-two", trial) for trial in range(4)]
        roomy = LocalExecutor(2, replace(LIMITS, memory_mb=4000.0))  # runners are kept
        with contextlib.closing(roomy) as executor:
            run_all(executor, cart[:2])
            keepers = [psutil.Process(place._keeper.pid) for place in executor._idle]
            processes = [runner for keeper in keepers for runner in keeper.children()]
            for process in processes:
                process.suspend()
            ended = run_all(executor, cart[2:])
            assert processes
            assert {outcome.run["status"] for outcome in ended.values()} == {"timeout"}
            again = run_all(executor, cart)
            assert {outcome.run["status"] for outcome in again.values()} == {"ok"}

    def test_a_worker_stopped_before_it_begins_ends_by_its_limit(self, monkeypatch):
        monkeypatch.setattr(supervisor, "STARTUP_SECONDS", 1.0)
        monkeypatch.setattr(supervisor, "KEEPER_SECONDS", 0.5)
        with contextlib.closing(LocalExecutor(1, LIMITS)) as executor:
            executor.start(job := fake_job("good"))
            executor._busy[0]._keeper.send_signal(signal.SIGSTOP)
            (outcome,) = executor.wait(60.0)
            assert (outcome.run["key"], outcome.run["status"]) == (job.key, "crash")
            assert outcome.run["reason"] == "the worker did not start in 1 s"

    def test_children_end_with_a_worker_that_was_stopped(self, monkeypatch):
        monkeypatch.setattr(supervisor, "KEEPER_SECONDS", 0.5)
        with contextlib.closing(LocalExecutor(1, LIMITS)) as executor:
            jobs = [fake_job("stops-its-keeper"), fake_job("good")]
            ended = run_all(executor, jobs)
            assert [ended[job.key].run["status"] for job in jobs] == ["timeout", "ok"]
            assert not [process for process in descendants_left() if process.name() == "sleep"]

    def test_jobs_go_to_the_worker_that_has_done_similar(self, executor):
        def places(jobs: list[Job]) -> dict[int, int]:
            for job in jobs:
                executor.start(job)
            found = {place.job.trial: id(place) for place in executor._busy}
            run_all(executor, [])
            return found

        first = places([job_of("cart", "fake-two", trial) for trial in (5, 6)])
        second = places([job_of("cart", "fake-two", trial, max_depth=2) for trial in (6, 5)])
        assert first == second


@pytest.mark.usefixtures("fakes")
class TestDask(Supervision):
    """On a real cluster: a scheduler and two worker processes."""

    @pytest.fixture(scope="class")
    @classmethod
    def executor(cls, fakes: None) -> Iterator[Executor]:
        from experiments.runner.executors.dask import DaskExecutor

        port = free_port()
        address = f"tcp://127.0.0.1:{port}"
        with contextlib.ExitStack() as stack:
            stack.enter_context(dask("scheduler", "--host", "127.0.0.1", "--port", str(port)))
            for _ in range(2):
                stack.enter_context(dask("worker", address, "--nthreads", "1", "--no-nanny"))
            executor = DaskExecutor(address, LIMITS)
            yield executor
            executor.close()
            left = [" ".join(process.cmdline()) for process in descendants_left()]
            assert not [line for line in left if "executors.worker" in line]
        assert soon_gone()
