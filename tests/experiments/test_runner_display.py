"""What people see: durations, lines, the live picture, plans, failures, status."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from runner_helpers import fake_job

from experiments.__main__ import main
from experiments.core.job import Job, Running
from experiments.core.record import RunRecord
from experiments.core.text import counts, duration, table
from experiments.runner import plugins
from experiments.runner.display import LiveDisplay, PlainDisplay
from experiments.runner.estimate import Estimate
from experiments.runner.progress import Progress


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (9.96, "10.0 s"),
        (42.4, "42 s"),
        (125, "2 min 05 s"),
        (7200, "2 h 00 min"),
        (4 * 86400, "4.0 days"),
    ],
)
def test_durations_read_well(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_statuses_are_counted_in_the_usual_order() -> None:
    assert counts({"error": 1, "ok": 2000}) == "2,000 ok, 1 error"
    assert counts({}) == "nothing"


def test_columns_line_up() -> None:
    lines = table(["name", "n"], [["a", "1"], ["longer", "22"]]).splitlines()
    assert lines == ["name     n", "------  --", "a        1", "longer  22"]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def progress_of(jobs: list[Job], clock: Clock) -> Progress:
    return Progress(jobs, {job.key: Estimate(10.0, "a guess") for job in jobs}, 2, clock)


@pytest.mark.usefixtures("fakes")
class TestDisplays:
    def jobs(self) -> list[Job]:
        return [fake_job(method, trial) for method in ("good", "raises") for trial in range(5)]

    def test_time_left_follows_the_pace(self) -> None:
        jobs, clock = self.jobs(), Clock()
        progress = progress_of(jobs, clock)
        assert progress.seconds_left() == 50  # ten jobs of 10 s, two at a time
        clock.now = 40.0
        for job in jobs[:4]:
            progress.note(RunRecord.of(job, "ok"))
        assert progress.seconds_left() == pytest.approx(60)  # twice as slow as estimated
        for job in jobs[4:]:
            progress.note(RunRecord.of(job, "ok"))
        assert progress.seconds_left() == 0

    def test_lines_are_stamped_and_counted(self) -> None:
        jobs, stream = self.jobs(), io.StringIO()
        display = PlainDisplay(progress_of(jobs, Clock()), stream)
        display.started(jobs[0])
        display.finished(RunRecord.of(jobs[0], "ok", test_f1=0.5, tree_size=3, wall_seconds=1.5))
        display.finished(RunRecord.of(jobs[5], "error", reason="ValueError: no"))
        first, second = stream.getvalue().splitlines()
        expected = "[1/10] paper/default fake-two fake-good trial 0: F1 0.500, 3 nodes, 1.5 s"
        assert first.endswith(expected)
        assert first[:4].isdigit()
        assert second.endswith("error: ValueError: no")

    def test_the_picture_shows_bars_running_jobs_failures_and_time(self) -> None:
        jobs, clock = self.jobs(), Clock()
        console = Console(file=io.StringIO(), width=110, force_terminal=True, record=True)
        display = LiveDisplay(progress_of(jobs, clock), "profile smoke", console)
        clock.now = 12.0
        display.finished(RunRecord.of(jobs[0], "ok", test_f1=0.5))
        display.finished(RunRecord.of(jobs[5], "crash", reason="killed by SIGSEGV"))
        display._running = [Running(jobs[1], 75.0, "worker 1")]
        console.print(display.render())
        text = console.export_text()
        display.close()
        for expected in (
            "profile smoke",
            "2/10",
            "fake-good",
            "1/5",
            "worker 1",
            "paper/default fake-two fake-good trial 1",
            "75 s",
            "0 of 1 rows complete",
            "fake-two fake-good trial 0: F1 0.500",
            "Failed so far: 1 crash",
            "killed by SIGSEGV",
            "left",
        ):
            assert expected in text


Say = Callable[..., str]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Say:
    """Runs a verb in this process; what it said."""
    monkeypatch.setenv(plugins.VARIABLE, "")

    def say(*arguments: str, status: int = 0) -> str:
        ended = main(list(arguments))
        printed = capsys.readouterr()
        assert ended == status, printed.out + printed.err
        return printed.out + printed.err

    return say


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--method", "cartt"], "unknown method 'cartt'; did you mean cart"),
        (["--dataset", "irs"], "iris"),
        (["--experiment", "tune"], "unknown experiment 'tune'; did you mean tuned?"),
        (["--protocol", "dirty"], "unknown protocol 'dirty'; known: paper, clean"),
        (["--profile", "smok"], "unknown profile 'smok'; did you mean smoke?"),
    ],
)
def test_a_typo_gets_a_hint(arguments: list[str], hint: str, cli: Say) -> None:
    assert hint in cli("plan", *arguments, status=2)


def test_plan_status_and_failures_of_one_store(tmp_path: Path, cli: Say) -> None:
    select = ["--plugin", "fake_learners", "--experiment", "default", "--protocol", "paper"]
    select += ["--dataset", "fake-two", "--method", "fake-good,fake-raises", "--trial", "0-1"]
    place = ["--store", str(tmp_path)]
    assert "4 of 4 jobs to do" in cli("plan", *select, *place)
    cli("run", "--inline", *select, *place, status=1)
    assert "2 of 4 jobs to do" in cli("plan", *select, *place)
    status = cli("status", *select, *place)
    assert "4 jobs, 0 not run yet" in status
    failures = cli("failures", "--log", *place, status=1)
    assert "error    paper fake-two fake-raises, trial 0, 1: ValueError: no tree" in failures
    assert "in raises" in failures
    assert "run --retry error" in failures
    assert "No failures" in cli("failures", "--method", "fake-good", *place)
