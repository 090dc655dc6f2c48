"""What a run is announced to take, against what such runs took."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from experiments.core import planned, store
from experiments.core.files import Lines, read_lines
from experiments.core.job import Job, Limits, canonical_json
from experiments.core.record import RunRecord
from experiments.core.searched import all_scores
from experiments.core.store import COMMITTED, Store
from experiments.runner import estimate
from experiments.runner.candidates import METHODS, candidate, candidate_job
from experiments.runner.estimate import OVERHEAD_SECONDS, Estimate, Estimator, speeds, starting
from experiments.runner.plan import estimate_all, make_plan
from experiments.runner.profiles import profiles, select, smallest_first
from experiments.search.outcome import timed_candidates

BENCH = COMMITTED.parent / "bench"
FEW = 20
"""Candidates after which a search is asked how long the rest will take."""


@cache
def committed() -> list[RunRecord]:
    return Store(COMMITTED).records()


def measured_profiles() -> list[dict[str, str]]:
    with (BENCH / "profiles.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    "row", measured_profiles(), ids=lambda row: f"{row['profile']}-{row['kernels']}"
)
def test_profiles_take_what_the_plan_says(row: dict[str, str]) -> None:
    profile = profiles()[row["profile"]]
    jobs = select(profile)
    limits = Limits(profile.time_limit, 4000.0, 1)
    estimates = estimate_all(jobs, Estimator(committed(), limits.seconds), limits)
    # Learners that joined a profile since it was measured have no records to estimate by.
    jobs = [job for job in jobs if estimates[job.key].basis != "a guess"]
    compiled = row["kernels"] == "compiled before"
    seconds = starting(jobs, int(row["workers"]), compiled)
    seconds += sum(estimates[job.key].seconds for job in jobs)
    # A profile may have grown since it was measured: what counts is the time per job.
    measured = float(row["cpu_seconds"]) / int(row["jobs"])
    assert 0.5 < seconds / len(jobs) / measured < 2


def searches() -> dict[tuple[str, str, str], list[tuple[int, float]]]:
    """Seconds of every candidate that was fitted, search by search, in the order of numbers."""
    found = defaultdict(list)
    for scores in all_scores():
        for method, column in scores.methods.items():
            for number, one in sorted(column.items()):
                if one.seconds is not None:
                    found[scores.protocol, scores.dataset, method].append((number, one.seconds))
    return found


def ratios(kept: int) -> tuple[list[float], float]:
    """Announced by taken, per search and over all, knowing so many candidates of each."""
    candidates: dict[str, list[RunRecord]] = defaultdict(list)
    for record in timed_candidates(COMMITTED.parent / "search"):
        candidates[record.method].append(record)
    fits: dict[str, list[RunRecord]] = defaultdict(list)
    for record in committed():
        fits[record.method].append(record)
    per_search, announced, taken = [], 0.0, 0.0
    for (protocol, dataset, method), seconds in searches().items():
        # What other learners took says nothing of this one.
        here = [r for r in candidates[method] if (r.protocol, r.dataset) == (protocol, dataset)]
        known = sorted(here, key=lambda record: record.trial)[:kept]
        elsewhere = [r for r in candidates[method] if r.dataset != dataset]
        rest = seconds[kept:]
        if not rest:
            continue
        job = candidate_job(protocol, dataset, method, candidate(dataset, method, rest[0][0]))
        one = (
            Estimator([*fits[method], *elsewhere, *known], 3600).estimate(job).seconds
            - OVERHEAD_SECONDS
        )
        per_search.append(one * len(rest) / sum(spent for _, spent in rest))
        announced += one * len(rest)
        taken += sum(spent for _, spent in rest)
    return per_search, announced / taken


@pytest.mark.parametrize(("kept", "most_off"), [(0, 0.10), (FEW, 0.05)])
def test_searches_take_what_the_plan_says(kept: int, most_off: float) -> None:
    """Within a factor of two in all, and one by one for nearly all searches on record."""
    found, overall = ratios(kept)
    assert len(found) > 50
    assert 0.5 < overall < 2
    off = [ratio for ratio in found if not 0.5 < ratio < 2]
    assert len(off) <= most_off * len(found), sorted(off)


@cache
def beyond_sizes(method: str) -> tuple[float, float]:
    """Announced and taken for the largest quarter of datasets, by what the smallest half took."""
    candidates = [r for r in timed_candidates(COMMITTED.parent / "search") if r.method == method]
    fits = [record for record in committed() if record.method == method]
    slugs = smallest_first(sorted({record.dataset for record in candidates}))
    small, large = slugs[: len(slugs) // 2], slugs[-len(slugs) // 4 :]
    estimator = Estimator([*fits, *(r for r in candidates if r.dataset in small)], 3600)
    announced = taken = 0.0
    for record in candidates:
        if record.dataset in large:
            one = candidate(record.dataset, method, record.trial)
            job = candidate_job(record.protocol, record.dataset, method, one)
            announced += estimator.estimate(job).seconds - OVERHEAD_SECONDS
            taken += record.cpu_seconds or 0.0
    return announced, taken


@pytest.mark.parametrize("methods", [*([each] for each in METHODS), METHODS], ids="+".join)
def test_small_searches_tell_what_large_ones_take(methods: Sequence[str]) -> None:
    """Beyond the sizes that were searched: by what a single fit takes there."""
    announced, taken = map(sum, zip(*map(beyond_sizes, methods), strict=True))
    assert 0.5 < announced / taken < 2


def test_seconds_count_as_machines_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "calibrate", lambda clock: 0.03)
    record = next(r for r in committed() if "calibration_ms" in r.extra)
    slower = replace(
        record,
        finished="2026-01-01T00:00:00Z",
        extra={"calibration_ms": 2 * record.extra["calibration_ms"]},
    )
    ratio = 30 / record.extra["calibration_ms"]
    assert speeds([record, record, record, slower]) == {
        (record.environment, record.finished[:10]): pytest.approx(ratio),
        (record.environment, "2026-01-01"): pytest.approx(ratio / 2),
        (record.environment, ""): pytest.approx(ratio),
    }


def test_seconds_count_as_their_day_does() -> None:
    job = next(job for job in select(profiles()["smoke"]) if job.method == "cart")
    record = replace(
        RunRecord.of(job, "ok", cpu_seconds=10.0),
        environment="a",
        finished="2026-01-01T00:00:00Z",
    )
    for speed, seconds in (
        ({}, 10.0),
        ({("a", ""): 3.0}, 30.0),
        ({("a", ""): 3.0, ("a", "2026-01-01"): 2.0}, 20.0),
        ({("b", ""): 3.0, ("a", "2026-01-02"): 2.0}, 10.0),
    ):
        announced = Estimator([record], 3600, speed).estimate(job).seconds
        assert announced == pytest.approx(seconds + OVERHEAD_SECONDS)


def test_compiling_is_counted_once_per_worker_and_family() -> None:
    jobs = [job for job in select(profiles()["smoke"]) if job.method.startswith("gradtree")]
    cold, warm = (starting(jobs, 2, compiled) for compiled in (False, True))
    compiling = estimate.first_use()["gradtree-gumbel"][1]
    assert compiling > 10
    assert cold - warm == pytest.approx(2 * compiling)


def test_a_learner_that_was_never_timed_costs_its_process_alone(tmp_path: Path) -> None:
    assert starting([], 2, compiled=False) == 0


def test_equal_numbers_of_another_type_are_other_parameters() -> None:
    known = next(r for r in committed() if (r.dataset, r.method) == ("iris", "cart"))
    for value in (1, 1.0, True):
        job = Job(known.protocol, "default", "iris", "cart", canonical_json({"a": value}), 0, 42)
        others = [v for v in (1, 1.0, True) if type(v) is not type(value)]
        records = [replace(known, params={"a": v}, cpu_seconds=9.0) for v in others]
        own = replace(known, params={"a": value}, cpu_seconds=3.0)
        assert Estimator([*records, own], 3600).estimate(job).seconds == pytest.approx(3.05)


def read_by_plan(
    job: Job, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Estimate, set[str]]:
    """What a plan says of one job, and the datasets whose committed records it read for that."""
    read: list[Path] = []

    def noting(path: Path) -> Lines:
        read.append(path)
        return read_lines(path)

    monkeypatch.setattr(store, "read_lines", noting)
    monkeypatch.setattr(store, "_faultless", {})  # as in a process that has read nothing
    made = make_plan([job], Store(folder), Limits(), workers=1)
    shelves = {path.name.split(".")[0] for path in read if path.parent.parent == COMMITTED}
    return made.estimates[job.key], shelves


def test_a_plan_reads_no_other_datasets_where_the_learner_was_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = next(r for r in committed() if (r.dataset, r.method) == ("iris", "cart"))
    job = Job(known.protocol, "default", "iris", "cart", canonical_json(known.params), 0, 42)
    found, shelves = read_by_plan(job, tmp_path, monkeypatch)
    assert shelves == {"iris"}
    whole = Estimator(committed(), Limits().seconds, speeds(committed())).estimate(job)
    assert found.basis == whole.basis == "same parameters"
    assert found.seconds == pytest.approx(whole.seconds, rel=0.2, abs=0.01)


def test_a_plan_reads_other_datasets_where_only_they_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = candidate_job("paper", "iris", "cart", candidate("iris", "cart", 0))
    found, shelves = read_by_plan(job, tmp_path, monkeypatch)
    assert len(shelves) > 36
    assert found.basis == "other datasets"


def test_a_plan_reads_no_other_datasets_for_a_learner_without_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planned, "read_learners", lambda folder, problems=None: {})
    job = candidate_job("paper", "iris", "cart", candidate("iris", "cart", 0))
    assert read_by_plan(job, tmp_path, monkeypatch)[1] == {"iris"}
