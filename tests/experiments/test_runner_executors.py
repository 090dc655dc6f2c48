"""Every executor survives every misbehaviour: one class of tests, several back ends."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from runner_helpers import descendants_left, fake_job, local_cluster, run_all, soon_gone, steady

from experiments.core.job import Limits
from experiments.core.record import Outcome
from experiments.runner.executors.local import Executor, InlineExecutor, ProcessExecutor
from experiments.runner.executors.process import python_environment

LIMITS = Limits(seconds=4.0, memory_mb=300.0)
PATIENCE_SECONDS = 5.0


class Behaviour:
    """What the inline executor can promise too; the class of a back end brings ``executor``."""

    def one(self, executor: Executor, method: str) -> Outcome:
        job = fake_job(method)
        return run_all(executor, [job])[job.key]

    def test_success(self, executor: Executor) -> None:
        outcome = self.one(executor, "good")
        assert outcome.record.status == "ok"
        assert outcome.record.test_f1 is not None
        assert outcome.record.wall_seconds is not None
        assert outcome.record.environment
        assert outcome.predictions

    def test_raises(self, executor: Executor) -> None:
        record = self.one(executor, "raises").record
        assert (record.status, record.reason) == ("error", "ValueError: no tree would grow")
        assert "in raises" in record.traceback
        assert record.test_f1 is None

    def test_asks_to_exit(self, executor: Executor) -> None:
        record = self.one(executor, "exits").record
        assert (record.status, record.reason) == ("error", "SystemExit: 7")

    @pytest.mark.parametrize(
        ("method", "reason"),
        [
            ("returns-nan", "no class indices"),
            ("returns-nan-probabilities", "no probabilities"),
            ("returns-wrong-shape", "shape (13, 2) for 12 rows"),
            ("returns-wrong-label", "labels outside 0..1"),
            ("returns-odd-size", "'float' object cannot be interpreted as an integer"),
        ],
    )
    def test_no_prediction(self, executor: Executor, method: str, reason: str) -> None:
        record = self.one(executor, method).record
        assert record.status == "error"
        assert reason in record.reason

    def test_skips(self, executor: Executor) -> None:
        assert self.one(executor, "picky").record.reason == "too picky"
        record = self.one(executor, "lacking").record
        assert (record.status, record.reason) == ("skipped", "a_module_nobody_has not installed")

    def test_refuses_another_version(self, executor: Executor) -> None:
        from dataclasses import replace

        job = replace(fake_job("good"), content_hash="of other data")
        record = run_all(executor, [job])[job.key].record
        assert record.status == "error"
        assert "bring this checkout to the version" in record.reason

    def test_same_job_same_record(self, executor: Executor) -> None:
        jobs = [fake_job("good", trial) for trial in range(4)]
        here = run_all(InlineExecutor(), jobs)
        there = run_all(executor, jobs)
        for job in jobs:
            assert steady(here[job.key].record) == steady(there[job.key].record)


class Supervision(Behaviour):
    """What takes a supervised process: limits, crashes, logs, and no child left."""

    @pytest.mark.parametrize(
        ("method", "status", "reason"),
        [
            ("sleeps", "timeout", "more than 4.0 s"),
            ("forks-and-sleeps", "timeout", "more than 4.0 s"),
            ("prints-for-ever", "timeout", "more than 4.0 s"),
            ("allocates", "memory", ""),
            ("allocates-natively", "memory", ""),
            ("segfaults", "crash", "killed by SIGSEGV"),
            ("aborts", "crash", "killed by SIGABRT"),
            ("exits-hard", "crash", "exited with status 7"),
            ("forks", "ok", ""),
        ],
    )
    def test_ends_within_its_limit_and_harms_nobody(
        self, executor: Executor, method: str, status: str, reason: str
    ) -> None:
        bad = fake_job(method)
        good = [fake_job("good", trial) for trial in range(3)]
        run_all(executor, good[:2])  # workers are warm: the clock measures the misbehaviour
        began = time.monotonic()
        record = run_all(executor, [bad])[bad.key].record
        assert time.monotonic() - began < LIMITS.seconds + PATIENCE_SECONDS
        assert record.status == status
        assert record.reason.startswith(reason)
        outcomes = run_all(executor, good)
        assert [outcomes[job.key].record.status for job in good] == ["ok"] * 3
        strays = [p for p in descendants_left() if p.name() == "sleep"]
        assert not strays

    def test_a_crash_leaves_its_python_stack_in_the_log(self, executor: Executor) -> None:
        record = self.one(executor, "segfaults").record
        assert "in segfaults" in record.log_tail

    def test_limits_are_recorded(self, executor: Executor) -> None:
        assert self.one(executor, "sleeps").record.extra == {"limit": LIMITS.seconds}
        assert self.one(executor, "allocates").record.extra == {"limit": LIMITS.memory_mb}

    def test_prints_megabytes(self, executor: Executor) -> None:
        assert self.one(executor, "prints").record.status == "ok"
        record = self.one(executor, "prints-and-raises").record
        assert record.status == "error"
        assert "the last line\nfrom a child\n" in record.log_tail
        assert len(record.log_tail) < 5000

    def test_logs_are_not_mixed_up(self, executor: Executor) -> None:
        outcomes = run_all(
            executor, [fake_job("prints"), fake_job("raises"), fake_job("raises", 1)]
        )
        tails = [o.record.log_tail for o in outcomes.values() if o.record.status == "error"]
        assert tails == ["about to raise\n"] * 2


class TestInline(Behaviour):
    @pytest.fixture(scope="class")
    @classmethod
    def executor(cls, fakes: None) -> Executor:
        return InlineExecutor()


class TestProcesses(Supervision):
    @pytest.fixture(scope="class")
    @classmethod
    def executor(cls, fakes: None) -> Iterator[Executor]:
        executor = ProcessExecutor(2, LIMITS)
        yield executor
        executor.close()
        assert not descendants_left()


class TestCluster(Supervision):
    """On a real cluster: a scheduler and two worker processes."""

    @pytest.fixture(scope="class")
    @classmethod
    def executor(cls, fakes: None) -> Iterator[Executor]:
        from experiments.runner.executors.cluster import DaskExecutor

        with local_cluster(workers=2) as address:
            executor = DaskExecutor(address, LIMITS)
            yield executor
            executor.close()
            left = [" ".join(process.cmdline()) for process in descendants_left()]
            assert not [line for line in left if "executors.worker" in line]
        assert soon_gone()


AUTOGROUP = Path("/proc/self/autogroup")


@pytest.mark.skipif(not AUTOGROUP.exists(), reason="no groups by session on this system")
def test_nice_counts_for_a_worker_in_a_session_of_its_own() -> None:
    program = (
        "from pathlib import Path; from experiments.runner.executors.worker import keep_priority; "
        f"keep_priority(); print(Path({str(AUTOGROUP)!r}).read_text())"
    )
    said = subprocess.run(
        ["nice", "-n", "7", sys.executable, "-c", program],
        start_new_session=True,
        capture_output=True,
        text=True,
        check=True,
        env=python_environment(),
    ).stdout
    assert said.split()[-2:] == ["nice", str(os.nice(0) + 7)]
