"""What to do, in which order, and what need not be tried."""

import random
import time
from collections import deque
from dataclasses import replace
from typing import Any

import pytest
from runner_helpers import fake_job

from experiments.runner.plan import Queue, make_plan, state_of
from experiments.runs.schema import Job, Limits

LIMITS = Limits(seconds=60, memory_mb=1000)
pytestmark = pytest.mark.usefixtures("fakes")


def ok(job: Job) -> dict[str, Any]:
    return job.run("ok", test_f1=0.5)


def timeout(job: Job) -> dict[str, Any]:
    return job.run("timeout", reason="more than 60 s", limit_value=60.0)


def take_all(queue: Queue) -> list[Job]:
    return list(iter(queue.take, None))


def test_where_one_exceeds_its_limits_the_rest_of_its_group_is_not_tried():
    slow = [fake_job("sleeps", trial) for trial in range(4)]
    other, good = fake_job("sleeps", 3, seconds=2), fake_job("good")
    queue = Queue([*slow, other, good])
    assert [queue.take(), queue.take()] == slow[:2]
    settled = queue.finish(timeout(slow[0]))
    assert [run["trial"] for run in settled] == [2, 3]
    assert {run["reason"] for run in settled} == {"not tried: more than 60 s in trial 0"}
    assert {(run["status"], run["limit_value"]) for run in settled} == {("timeout", 60.0)}
    assert all(slow[0].key in run["extra"] for run in settled)
    assert queue.finish(timeout(slow[1])) == []
    assert take_all(queue) == [other, good], "other parameters are another group"
    assert len(queue) == 0


def test_all_are_tried_where_they_are_wanted():
    jobs = [fake_job("good", trial) for trial in range(3)]
    stubborn = Queue(jobs, give_up=False)
    assert take_all(stubborn) == jobs
    assert stubborn.finish(timeout(jobs[0])) == []


def test_jobs_that_share_work_follow_each_other():
    first = [fake_job("good", 0, most=most) for most in range(3)]
    other = [fake_job("good", 1, most=most) for most in range(3)]
    queue = Queue([*first, *other], give_up=False)
    assert [queue.take(), queue.take()] == [first[0], other[0]]
    queue.finish(ok(other[0]))
    assert queue.take() == other[1]
    queue.finish(ok(first[0]))
    queue.finish(ok(other[1]))
    assert [queue.take(), queue.take()] == [first[1], other[2]]
    assert take_all(queue) == [first[2]], "side by side where there is nothing else to do"


def test_candidates_of_a_search_share_nothing_and_the_longest_come_first():
    jobs = [replace(fake_job("good", most=most), evaluation="cv:3") for most in range(3)]
    assert take_all(Queue([*jobs, fake_job("good", 1)], give_up=False))[:3] == jobs
    jobs = [fake_job("good", trial) for trial in range(3)]
    seconds = {job.key: float(job.trial) for job in jobs}
    assert take_all(Queue(jobs, seconds, give_up=False)) == jobs[::-1]


def test_what_must_run_alone_runs_alone_and_last():
    shared = [fake_job("good", trial) for trial in range(2)]
    alone = [replace(job, measured="alone") for job in shared]
    queue = Queue([*alone, *shared], {alone[0].key: 1e6}, give_up=False)
    assert take_all(queue) == shared
    queue.finish(ok(shared[0]))
    assert queue.take() is None, "another job is still running"
    queue.finish(ok(shared[1]))
    assert take_all(queue) == alone[:1]
    queue.finish(ok(alone[0]))
    assert take_all(queue) == alone[1:]


@pytest.mark.parametrize(
    ("status", "limit", "state"),
    [
        ("ok", None, "done"),
        ("error", None, "failed"),
        ("crash", None, "failed"),
        ("timeout", 60, "limited"),
        ("timeout", 59, "failed"),
        ("memory", 1000, "limited"),
        ("memory", 999, "failed"),
        ("memory", None, "failed"),
    ],
)
def test_failures_are_no_results(status, limit, state):
    job = fake_job("good")
    run = {**job.run(status), "limit_value": limit, "reason": None, "extra": None}
    assert state_of(job, run, LIMITS) == state
    pending = make_plan([job], {job.key: run}, LIMITS).pending
    assert pending == ([job] if state == "failed" else [])


def test_a_skip_holds_as_long_as_its_reason():
    picky, good = fake_job("picky"), fake_job("good")

    def skipped(job: Job, reason: str, extra: str | None = None) -> dict[str, Any]:
        return job.run("skipped", reason=reason, extra=extra)

    assert state_of(picky, skipped(picky, "too picky"), LIMITS) == "skipped"
    assert state_of(good, skipped(good, "a library was missing"), LIMITS) == "pending"
    assert state_of(good, skipped(good, "no data"), LIMITS) == "unavailable"
    clean = replace(picky, protocol="clean")
    assert state_of(clean, skipped(clean, "too picky", '{"shape":[4,2]}'), LIMITS) == "skipped"


def many_jobs(datasets: int) -> list[Job]:
    return [
        Job("paper", "e", f"d{d}", f"m{m}", f'{{"a":{a}}}', trial, 42, content_hash=f"d{d}")
        for d in range(datasets)
        for m in range(10)
        for a in range(10)
        for trial in range(10)
    ]


def drive(queue: Queue, workers: int, bad: float, seed: int) -> tuple[list[Job], int, float]:
    """Fake workers that end in any order; jobs taken, jobs settled, seconds per start."""
    draws, out, taken, settled = random.Random(seed), deque[Job](), [], 0
    began = time.process_time()
    while len(queue) or out:
        while len(out) < workers and (job := queue.take()) is not None:
            out.append(job)
            taken.append(job)
        out.rotate(draws.randrange(len(out)))
        job = out.popleft()
        settled += len(queue.finish(timeout(job) if draws.random() < bad else ok(job)))
    return taken, settled, (time.process_time() - began) / len(taken)


@pytest.mark.parametrize("give_up", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_every_job_is_taken_once_or_settled(give_up, seed):
    jobs = many_jobs(2)
    draws = random.Random(seed)
    seconds = {job.key: draws.random() for job in jobs}
    taken, settled, _ = drive(Queue(jobs, seconds, give_up=give_up), 7, 0.1, seed)
    assert len({job.key for job in taken}) == len(taken)
    assert len(taken) + settled == len(jobs)
    assert bool(settled) == give_up


def test_a_start_costs_a_tenth_of_a_millisecond_however_many_there_are():
    jobs = many_jobs(100)  # 100,000
    for job in jobs:
        _ = job.key
    assert drive(Queue(jobs, {}), 100, 0.0, 0)[2] < 1e-4
