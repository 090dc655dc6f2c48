"""The catalogue: which work there is, each piece once, in an order that fills rows early."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path

import pytest

from datasets import VARIANTS, DatasetUnavailable, load_dataset
from datasets.protocols.base import data_seed
from datasets.protocols.paper import AS_PUBLISHED, parts_and_values
from datasets.protocols.rebalancing import has_rare_class
from experiments.core.files import read_lines
from experiments.core.job import Job
from experiments.core.planned import add_plan, read_plan, write_plan
from experiments.core.record import checked
from experiments.core.store import COMMITTED
from experiments.runner.catalogue import BEYOND, OTHER_SEEDS, all_datasets, jobs_of
from experiments.runner.perform import skip_reason
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


def test_firmness_repeats_every_tuned_trial_five_times() -> None:
    tuned = jobs_of("tuned", "paper", ["iris"], ["gradtree"])
    moved = jobs_of("firmness", "paper", ["iris"])
    assert len({job.key for job in (*tuned, *moved)}) == 10 + 50
    assert Counter((job.trial, job.params["perturbation"]) for job in moved) == Counter(
        (trial, number) for trial in range(10) for number in range(1, 6)
    )
    assert "perturbation" not in tuned[0].params
    assert {**tuned[0].params, "perturbation": 1} == moved[0].params


def test_a_plan_remembers_every_repetition(tmp_path: Path) -> None:
    jobs = jobs_of("firmness", "paper", ["iris"])
    add_plan(tmp_path, jobs)
    assert {job.key for job in read_plan(tmp_path)} == {job.key for job in jobs}
    write_plan(tmp_path, read_plan(tmp_path))
    assert {job.key for job in read_plan(tmp_path)} == {job.key for job in jobs}


@pytest.mark.parametrize("dataset", ["iris", "hepatitis"])
def test_todays_plan_finds_the_committed_records(dataset: str) -> None:
    """Every line is read with its key computed again; the plan must ask for these keys."""
    lines = read_lines(COMMITTED / "paper" / f"{dataset}.jsonl.gz")
    committed = {checked(values).key for _, values in lines.values}
    for experiment in ("tuned", "default", "seeds"):
        assert {job.key for job in jobs_of(experiment, "paper", [dataset])} <= committed


def test_the_ablations_have_the_printed_selectors_and_one_without_their_quirk() -> None:
    jobs = jobs_of("ablation-tuned", "paper", ["iris"], trials=[0])
    assert {job.method: job.params.get("noisy_prediction") for job in jobs} == {
        "gradtree": None,
        "gradtree-gumbel": True,
        "gradtree-annealed": None,
        "gradtree-gumbel-proper": None,
    }


def test_quirks_are_run_where_they_do_something() -> None:
    jobs = [job for job in select(profiles()["quirks"]) if job.experiment == "quirks"]
    methods = {protocol: set() for protocol in VARIANTS}  # type: dict[str, set[str]]
    datasets = {protocol: set() for protocol in VARIANTS}  # type: dict[str, set[str]]
    for job in jobs:
        methods[job.protocol].add(job.method)
        datasets[job.protocol].add(job.dataset)
    five = {"gradtree", "dndt", "genetictree", "dl85", "cart"}
    assert methods.pop("paper-training-bins") == {"dl85"}
    assert methods.pop("paper-class-weights") == {"gradtree", "dndt", "cart"}
    assert all(found == five for found in methods.values())
    assert {protocol: len(found) for protocol, found in datasets.items()} == {
        "paper-plain-means": 18,
        "paper-cross-fitted-means": 18,
        "paper-training-fill": 9,
        "paper-stratified": 36,
        "paper-no-noise": 36,
        "paper-no-oversampling": 15,
        "paper-class-weights": 15,
        "paper-training-bins": 36,
    }


def test_learners_without_weights_are_left_out_where_rows_are_weighed() -> None:
    jobs = jobs_of("quirks", "paper-class-weights", ["iris"], trials=[0])
    assert {job.method: skip_reason(job) for job in jobs} == {
        "gradtree": None,
        "dndt": None,
        "genetictree": "takes no weights",
        "dl85": "takes no weights",
        "cart": None,
    }


@pytest.mark.mirror
def test_oversampling_is_replaced_where_a_class_is_rare() -> None:
    """The profile names the datasets in which a trial has a rare class, and no other."""
    named = {
        job.dataset
        for job in select(profiles()["quirks"])
        if job.protocol == "paper-no-oversampling"
    }
    for slug in all_datasets():
        try:
            dataset = load_dataset(slug)
        except DatasetUnavailable:
            pytest.skip(f"no data for {slug}")
        parts = (parts_and_values(dataset, data_seed(trial), AS_PUBLISHED) for trial in range(10))
        rare = any(has_rare_class(filled.y[rows.train]) for rows, filled in parts)
        assert rare == (slug in named), slug


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


# What `searched` runs is known only where a search is finished.
@pytest.mark.parametrize("slug", [slug for slug in profiles() if slug != "searched"])
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


def test_sizes_of_a_tree_follow_each_other() -> None:
    profile = profiles()["small-trees"]
    jobs = select(profile, Filters(datasets=["iris", "wine"]))
    apart = select(replace(profile, together=False), Filters(datasets=["iris", "wine"]))
    assert jobs != apart
    assert set(jobs) == set(apart)
    runs = [family for family, _ in groupby(job.family for job in jobs)]
    assert len(runs) == len(set(runs))
    assert [job.dataset for job in jobs] == sorted(job.dataset for job in jobs)


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
