"""The catalogue and the profiles: their jobs have the keys of the committed runs."""

from __future__ import annotations

import pandas as pd
import pytest

from experiments.runner import registry
from experiments.runner.experiments import (
    EXPERIMENTS,
    Selection,
    declared_profiles,
    jobs_in,
    jobs_of,
    params_of,
    profile_from,
    profile_of,
    searches_in,
    unique,
)
from experiments.runs import archive
from experiments.runs.store import PLANNED

PAPER_TABLES = ("tuned", "default", "ablation-tuned", "ablation-default", "no-penalty", "runtime")


def test_the_catalogue_asks_for_the_jobs_of_the_committed_plan() -> None:
    """For every job of the paper's tables, and for whatever else the plan has."""
    planned = archive.read_plan().itertuples(index=False)
    theirs = {tuple(row[:-1]): row[-1] for row in planned}
    for profile in ("paper", "full"):
        jobs = jobs_in(profile_of(profile))
        ours = {tuple(getattr(job, name) for name in PLANNED[:-1]): job.key for job in jobs}
        common = {place: key for place, key in ours.items() if place in theirs}
        assert [place for place, key in common.items() if theirs[place] != key] == []
        assert len(common) == len(ours) if profile == "paper" else len(common) > 70_000


class TestProfiles:
    def test_paper_is_exactly_the_papers_tables(self) -> None:
        jobs = jobs_in(profile_of("paper"))
        assert {job.experiment for job in jobs} == set(PAPER_TABLES)
        assert {job.protocol for job in jobs} == {"paper"}
        assert len({job.dataset for job in jobs}) == 36
        assert {job.trial for job in jobs} == set(range(10))

    def test_full_has_every_experiment_and_the_search(self) -> None:
        full = profile_of("full")
        assert {job.experiment for job in jobs_in(full)} == set(EXPERIMENTS)
        assert {trials for _, trials in searches_in(full)} == {300}
        leaves = [leaf.slug for leaf in full.leaves()]
        assert leaves.index("search") < leaves.index("searched")
        assert len(leaves) == len(set(leaves))

    def test_every_profile_is_well_formed(self) -> None:
        for slug, profile in declared_profiles().items():
            assert profile.leaves(), slug
            chosen = Selection(datasets=["iris", "servo"], trials=[0])
            assert jobs_in(profile, chosen) or searches_in(profile, chosen), slug

    def test_regressions_are_planned_where_a_part_asks_for_them_only(self) -> None:
        known = registry.entries("dataset")
        numbers = {slug for slug in known if known[slug].task == "regression"}
        planned = jobs_in(profile_of("full"))
        assert {job.dataset for job in planned} == set(known)
        asking = {job.experiment for job in planned if job.dataset in numbers}
        assert asking == {"regression", "regression-quantiles"}
        assert not numbers & {subject.dataset for subject, _ in searches_in(profile_of("full"))}
        part = {"experiment": "default", "protocol": "clean", "methods": ["cart"], "trials": 1}
        asked = profile_from("own", {"parts": [{**part, "datasets": "regression"}]})
        assert {job.dataset for job in jobs_in(asked)} == numbers
        for mixed in ("all", "fresh"):
            other = profile_from("own", {"parts": [{**part, "datasets": mixed}]})
            assert not numbers & {job.dataset for job in jobs_in(other)}
            assert jobs_in(other, Selection(datasets=["servo"])) == []
        assert {job.dataset for job in jobs_in(asked, Selection(datasets=["servo"]))} == {"servo"}
        with pytest.raises(ValueError, match="Write 'all' or 'fresh' or 'regression'"):
            profile_from("own", {"parts": [{**part, "datasets": "regresion"}]})

    def test_shared_work_is_done_once_and_planned_everywhere(self) -> None:
        jobs = jobs_in(profile_of("paper"))
        assert len(jobs) == 9000
        assert len(unique(jobs)) == 7300
        dl85 = {j.key for j in jobs if j.method == "dl85" and j.experiment == "tuned"}
        assert dl85 == {j.key for j in jobs if j.method == "dl85" and j.experiment == "default"}

    def test_trials_beyond_the_ten_can_be_named(self) -> None:
        chosen = Selection(datasets=["iris"], methods=["cart"], trials=[3, 12])
        assert {job.trial for job in jobs_in(profile_of("smoke"), chosen)} == {3, 12}


class TestParameters:
    def test_published_ones_are_the_papers(self) -> None:
        assert params_of("published", "paper", "cart", "iris")["max_depth"] == 8
        assert params_of("published", "paper", "dl85", "iris") == params_of(
            "default", "paper", "dl85", "iris"
        )

    def test_what_an_experiment_changes(self) -> None:
        (runtime,) = jobs_of("runtime", "paper", ["iris"], ["gradtree"], [0])
        assert (runtime.parameters["restarts"], runtime.measured) == (0, "alone")
        moved = jobs_of("stability", "paper", ["iris"], None, [0])
        assert [job.repeat for job in moved] == ["1", "2", "3", "4", "5"]
        capped = jobs_of("small-trees-8", "clean", ["iris"], None, [0])
        by_method = {job.method: job.parameters for job in capped}
        assert by_method["gradtree"]["depth"] == 3
        assert by_method["gradtree-new-defaults"]["max_leaf_nodes"] == 8
        assert by_method["cart-pruned"]["max_leaves"] == 8
        seeds = {job.seed for job in jobs_of("seeds", "paper", ["iris"], None, [0])}
        assert len(seeds) == 10
        assert 42 not in seeds

    def test_learners_beyond_the_paper_join_elsewhere(self) -> None:
        under = {
            protocol: {job.method for job in jobs_of("default", protocol, ["iris"], None, [0])}
            for protocol in ("paper", "clean")
        }
        assert under["clean"] - under["paper"] == {"boosting", "cart-pruned", "optimal-tree"}

    def test_the_best_of_few_candidates_is_what_the_scores_say(self) -> None:
        from experiments.runner.candidates import FOLDER, candidate, read

        table = read(FOLDER / "paper" / "iris.csv")
        scores = pd.to_numeric(table["cart"], errors="coerce")[:30]
        (job,) = jobs_of("best-of-30", "paper", ["iris"], ["cart"], [0])
        drawn = candidate("iris", "cart", int(scores.idxmax()))
        assert drawn.items() <= job.parameters.items()
