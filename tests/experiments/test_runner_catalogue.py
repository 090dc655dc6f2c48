"""The catalogue: which work there is, each piece once, in an order that fills rows early."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from experiments.core.job import Job
from experiments.runner.catalogue import BEYOND, OTHER_SEEDS, jobs_of
from experiments.runner.profiles import Filters, every_use, profiles, select

PAPER_SIZE = 36 * 5 * 10
PROTOCOLS = ("paper", "clean")


def test_a_job_is_frozen_and_hashable() -> None:
    (job,) = jobs_of("tuned", "paper", ["iris"], ["cart"], [0])
    assert hash(job) == hash(replace(job))
    with pytest.raises(AttributeError):
        job.trial = 1  # type: ignore[misc]
    assert Job(**job.to_dict()) == job


@pytest.mark.parametrize(
    "change",
    [
        {"content_hash": "other"},
        {"protocol": "clean"},
        {"protocol_version": "other"},
        {"method": "dl85"},
        {"method_version": "other"},
        {"params_json": '{"max_depth":3}'},
        {"trial": 1},
        {"seed": 43},
        {"measured": "alone"},
        {"evaluation": "cv:3"},
    ],
)
def test_whatever_can_change_the_outcome_changes_the_key(change: dict[str, object]) -> None:
    (job,) = jobs_of("tuned", "paper", ["iris"], ["cart"], [0])
    assert replace(job, **change).key != job.key  # type: ignore[arg-type]


def test_the_experiment_does_not_change_the_key() -> None:
    (job,) = jobs_of("tuned", "paper", ["iris"], ["cart"], [0])
    assert replace(job, experiment="other").key == job.key


def test_the_order_of_parameters_does_not_matter() -> None:
    assert Job.freeze({"a": 1, "b": 2.0}) == Job.freeze({"b": 2.0, "a": 1})


def test_the_paper_has_1800_jobs_per_table() -> None:
    for experiment in ("tuned", "default", "runtime"):
        jobs = jobs_of(experiment, "paper")
        assert len(jobs) == len({job.key for job in jobs}) == PAPER_SIZE


def test_equal_work_is_one_job() -> None:
    tuned = {job.key for job in jobs_of("tuned", "paper", ["iris"])}
    default = {job.key for job in jobs_of("default", "paper", ["iris"])}
    dl85 = {job.key for job in jobs_of("tuned", "paper", ["iris"], ["dl85"])}
    assert tuned & default == dl85
    ablation = jobs_of("ablation-tuned", "paper", ["iris"])
    assert {job.key for job in ablation if job.method == "gradtree"} <= tuned
    assert {job.key for job in jobs_of("no-penalty", "paper", ["iris"], ["genetictree"])} <= tuned


def test_runtime_is_measured_alone_and_without_restarts() -> None:
    jobs = jobs_of("runtime", "paper", ["iris"])
    assert {job.measured for job in jobs} == {"alone"}
    assert {job.params["restarts"] for job in jobs if job.method == "gradtree"} == {0}


def test_other_seeds_are_ten_with_another_stream() -> None:
    jobs = jobs_of("seeds", "paper", ["iris"])
    assert len(jobs) == 100
    assert {job.seed for job in jobs} == set(OTHER_SEEDS)
    assert {job.params["stream"] for job in jobs} == {"numpy"}
    assert min(b - a for a, b in pairwise(OTHER_SEEDS)) > 15


def test_binary_default_has_five_restarts_and_tuned_three() -> None:
    for dataset, restarts in (("echocardiogram", 5), ("iris", 3)):
        (default,) = jobs_of("default", "paper", [dataset], ["gradtree"], [0])
        (tuned,) = jobs_of("tuned", "paper", [dataset], ["gradtree"], [0])
        assert (default.params["restarts"], tuned.params["restarts"]) == (restarts, 3)


def test_learners_beyond_the_paper_run_under_the_clean_protocol_only() -> None:
    paper, clean = ({job.method for job in jobs_of("default", p, ["iris"])} for p in PROTOCOLS)
    assert paper == {"gradtree", "dndt", "genetictree", "dl85", "cart"}
    assert clean - paper == set(BEYOND)
    assert {job.method for job in jobs_of("tuned", "clean", ["iris"])} == paper


def test_unknown_experiment_names_the_known() -> None:
    with pytest.raises(KeyError, match="known are tuned, default"):
        jobs_of("tunde", "paper")


@pytest.mark.parametrize("slug", list(profiles()))
def test_profiles_do_every_piece_of_work_once(slug: str) -> None:
    jobs = select(profiles()[slug])
    assert len({job.key for job in jobs}) == len(jobs)
    assert {job.key for job in jobs} == {job.key for job in every_use(profiles()[slug])}


def test_smoke_reaches_every_experiment_and_learner_of_the_paper() -> None:
    smoke, paper = (every_use(profiles()[slug]) for slug in ("smoke", "paper"))
    assert {(j.protocol, j.experiment) for j in smoke} >= {
        (j.protocol, j.experiment) for j in paper
    }
    assert {job.method for job in smoke} == {job.method for job in paper}


def test_quick_is_the_small_datasets_with_three_trials() -> None:
    jobs = select(profiles()["quick"])
    assert {job.trial for job in jobs} == {0, 1, 2}
    assert {job.method for job in jobs} == {"gradtree", "dndt", "genetictree", "dl85", "cart"}
    assert "adult" not in {job.dataset for job in jobs}


def test_rows_are_whole_before_the_next_begins() -> None:
    jobs = [job for job in select(profiles()["paper"]) if job.experiment == "tuned"]
    paper = [job.dataset for job in jobs if job.protocol == "paper"]
    changes = sum(a != b for a, b in pairwise(paper))
    assert changes == 35
    assert paper[0] in ("iris", "echocardiogram", "blood-transfusion")
    assert paper[-1] == "credit-card"


def test_filters_narrow() -> None:
    filters = Filters(["tuned"], ["paper"], ["zoo", "iris"], ["cart", "dl85"], [0, 3])
    jobs = select(profiles()["paper"], filters)
    assert Counter((job.dataset, job.method, job.trial) for job in jobs) == Counter(
        (dataset, method, trial)
        for dataset in ("iris", "zoo")
        for method in ("cart", "dl85")
        for trial in (0, 3)
    )
    assert not select(profiles()["smoke"], Filters(datasets=["adult"]))
