"""What to do, in which order, and what need not be tried."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from runner_helpers import fake_job

from experiments.core.job import Job, Limits
from experiments.core.record import RunRecord
from experiments.core.store import Store
from experiments.runner.estimate import UNKNOWN_SECONDS, Estimator
from experiments.runner.plan import make_plan, render_jobs, shard
from experiments.runner.queue import Queue, state_of, to_do

LIMITS = Limits(seconds=60, memory_mb=1000)
pytestmark = pytest.mark.usefixtures("fakes")


def ok(job: Job, seconds: float = 1.0) -> RunRecord:
    return RunRecord.of(job, "ok", test_f1=0.5, wall_seconds=seconds)


def timeout(job: Job, limit: float = 60) -> RunRecord:
    return RunRecord.of(job, "timeout", reason="more than 60 s", extra={"limit": limit})


def take_all(queue: Queue) -> list[Job]:
    taken = []
    while (job := queue.take()) is not None:
        taken.append(job)
    return taken


def test_jobs_of_a_group_wait_for_their_scout() -> None:
    slow = [fake_job("sleeps", trial) for trial in range(3)]
    good = [fake_job("good", trial) for trial in range(3)]
    queue = Queue([*slow, *good])
    assert take_all(queue) == [slow[0], good[0]]
    assert queue.finish(ok(good[0])) == []
    assert take_all(queue) == good[1:]
    settled = queue.finish(timeout(slow[0]))
    assert [record.trial for record in settled] == [1, 2]
    assert {record.status for record in settled} == {"timeout"}
    assert {record.reason for record in settled} == {"not tried: more than 60 s in trial 0"}
    assert {record.extra["implied_by"] for record in settled} == {slow[0].key}
    assert len(queue) == 0


def test_after_a_successful_scout_all_may_go() -> None:
    jobs = [fake_job("good", trial) for trial in range(3)]
    queue = Queue(jobs)
    (first,) = take_all(queue)
    queue.finish(ok(first))
    assert take_all(queue) == jobs[1:]


def test_siblings_let_others_pass_while_one_of_them_runs() -> None:
    free, capped = (fake_job("good", trial, most=most) for trial, most in ((0, 0), (0, 8)))
    other = fake_job("good", 1, most=0)
    queue = Queue([free, capped, other], give_up=False)
    assert [queue.take(), queue.take()] == [free, other]
    queue.finish(ok(free))
    assert queue.take() == capped
    eager = Queue([free, capped], give_up=False)
    assert take_all(eager) == [free, capped]


def test_candidates_of_a_search_are_no_siblings() -> None:
    jobs = [replace(fake_job("good", most=most), evaluation="cv:3") for most in range(3)]
    assert take_all(Queue([*jobs, fake_job("good", 1)], give_up=False))[:3] == jobs


def test_no_scout_where_records_show_no_danger_or_all_are_wanted() -> None:
    jobs = [fake_job("good", trial) for trial in range(3)]
    assert take_all(Queue(jobs, harmless={jobs[0].group})) == jobs
    stubborn = Queue(jobs, give_up=False)
    assert take_all(stubborn) == jobs
    assert stubborn.finish(timeout(jobs[0])) == []


def test_other_parameters_are_another_group() -> None:
    jobs = [fake_job("sleeps", trial, seconds=s) for s, trial in ((1, 0), (1, 1), (2, 2), (2, 3))]
    queue = Queue(jobs)
    assert take_all(queue) == [jobs[0], jobs[2]]
    queue.finish(timeout(jobs[0]))
    assert len(queue) == 1


def test_what_must_run_alone_runs_alone_and_last() -> None:
    shared = [fake_job("good", trial) for trial in range(2)]
    alone = [replace(job, measured="alone") for job in shared]
    queue = Queue([*alone, *shared], give_up=False)
    assert take_all(queue) == shared
    queue.finish(ok(shared[0]))
    assert queue.take() is None, "another job is still running"
    queue.finish(ok(shared[1]))
    assert take_all(queue) == alone[:1]
    queue.finish(ok(alone[0]))
    assert take_all(queue) == alone[1:]


@pytest.mark.parametrize(
    ("status", "extra", "state"),
    [
        ("ok", {}, "done"),
        ("error", {}, "failed"),
        ("crash", {}, "failed"),
        ("timeout", {"limit": 60}, "limited"),
        ("timeout", {"limit": 59}, "failed"),
        ("memory", {"limit": 1000}, "limited"),
        ("memory", {"limit": 999}, "failed"),
        ("memory", {}, "failed"),
    ],
)
def test_failures_are_no_results(status: str, extra: dict[str, float], state: str) -> None:
    job = fake_job("good")
    record = RunRecord.of(job, status, extra=extra)  # type: ignore[arg-type]
    assert state_of(job, record, LIMITS) == state
    again = to_do([job], {job.key: record}, LIMITS)
    assert again == ([job] if state == "failed" else [])


def test_a_skip_holds_as_long_as_its_reason() -> None:
    picky, good = fake_job("picky"), fake_job("good")
    skip = RunRecord.of(picky, "skipped", reason="too picky")
    assert state_of(picky, skip, LIMITS) == "skipped"
    stale = RunRecord.of(good, "skipped", reason="a library was missing")
    assert state_of(good, stale, LIMITS) == "pending"
    lacking = RunRecord.of(good, "skipped", reason="no data")
    assert state_of(good, lacking, LIMITS) == "unavailable"
    assert to_do([good], {good.key: lacking}, LIMITS) == [good]
    clean = replace(picky, protocol="clean")
    seen = RunRecord.of(clean, "skipped", reason="too picky", extra={"shape": [4, 2]})
    assert state_of(clean, seen, LIMITS) == "skipped"


def test_retry_takes_just_what_is_asked_for() -> None:
    jobs = [fake_job("good", trial) for trial in range(4)]
    statuses = ("ok", "timeout", "crash")
    records = {j.key: RunRecord.of(j, s) for j, s in zip(jobs, statuses, strict=False)}  # type: ignore[arg-type]
    assert to_do(jobs, records, LIMITS, retry=["timeout", "crash"]) == jobs[1:3]
    assert to_do(jobs, records, LIMITS, retry=["memory"]) == []


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shards_part_the_work_and_keep_groups_whole(count: int) -> None:
    jobs = [
        fake_job("good", trial, dataset, shift=shift)
        for dataset in ("fake-two", "fake-three")
        for shift in range(3)
        for trial in range(4)
    ]
    shards = [shard(jobs, index, count) for index in range(1, count + 1)]
    assert sorted(job.key for part in shards for job in part) == sorted(job.key for job in jobs)
    homes = {job.group: index for index, part in enumerate(shards) for job in part}
    assert all(homes[job.group] == i for i, part in enumerate(shards) for job in part)
    with pytest.raises(ValueError, match="must be 1 to"):
        shard(jobs, count + 1, count)


def test_estimates_come_from_the_most_similar_records() -> None:
    known = fake_job("good", 0, "fake-two", shift=1)
    records = [ok(known, 3.0), ok(fake_job("good", 1, "fake-two", shift=1), 5.0)]
    estimator = Estimator(records, time_limit=60)
    same = estimator.estimate(fake_job("good", 9, "fake-two", shift=1))
    assert (same.basis, round(same.seconds)) == ("same parameters", 4)
    assert estimator.estimate(fake_job("good", 9, "fake-two", shift=2)).basis == "same dataset"
    other = estimator.estimate(fake_job("good", 0, "fake-three"))
    assert other.basis == "other datasets"
    assert other.seconds == pytest.approx(4 * (90 * 5 * 3) / (60 * 4 * 2), abs=0.1)
    guess = estimator.estimate(fake_job("trivial"))
    assert guess.basis == "a guess"
    assert guess.seconds == pytest.approx(UNKNOWN_SECONDS, abs=0.1)


def test_a_timeout_counts_with_its_limit_and_no_estimate_exceeds_the_present_one() -> None:
    job = fake_job("sleeps")
    assert Estimator([timeout(job, 50)], 60).estimate(job).seconds == pytest.approx(50, abs=0.1)
    assert Estimator([timeout(job, 500)], 60).estimate(job).seconds == pytest.approx(60, abs=0.1)


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which nothing else runs and workers are up at once."""
    monkeypatch.setattr("experiments.runner.plan.busy", lambda workers: 1.0)
    monkeypatch.setattr("experiments.runner.plan.starting", lambda jobs, workers, compiled: 0.0)


@pytest.mark.usefixtures("quiet")
def test_one_expected_timeout_spares_the_rest_of_its_group(tmp_path: Path) -> None:
    jobs = [fake_job("sleeps", trial) for trial in range(10)]
    Store(tmp_path).append(timeout(jobs[0], limit=600))
    plan = make_plan(jobs, Store(tmp_path), Limits(seconds=601), workers=1)
    assert plan.wall_seconds > 10 * 600, "600 s did not suffice, 601 s may"
    plan = make_plan(jobs[1:], Store(tmp_path), LIMITS, workers=1)
    assert plan.wall_seconds == pytest.approx(60, abs=1)


@pytest.mark.usefixtures("quiet")
def test_what_will_be_skipped_costs_nothing(tmp_path: Path) -> None:
    jobs = [fake_job("picky", trial) for trial in range(10)]
    assert make_plan(jobs, Store(tmp_path), LIMITS, workers=1).wall_seconds < 1


@pytest.mark.usefixtures("quiet")
def test_a_plan_tells_jobs_done_and_time(tmp_path: Path) -> None:
    jobs = [fake_job("good", trial) for trial in range(10)]
    store = Store(tmp_path)
    for job in jobs[:4]:
        store.append(ok(job, 10.0))
    plan = make_plan(jobs, store, LIMITS, workers=2)
    assert (len(plan.jobs), len(plan.pending)) == (10, 6)
    assert plan.wall_seconds == pytest.approx(30, abs=1)
    assert plan.harmless() == {jobs[0].group}
    text = render_jobs(plan)
    assert "6 of 10 jobs to do" in text
    assert "30 s of wall-clock time with 2 workers" in text
    assert "6 same parameters" in text
