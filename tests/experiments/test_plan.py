"""The plan goes by the medians of the committed runs, quickly; what the profiles hold."""

import time

import pytest

from experiments.runner import plan, registry
from experiments.runner.candidates import Subject, search_seconds
from experiments.runner.experiments import (
    EXPERIMENTS,
    Selection,
    declared_profiles,
    jobs_in,
    jobs_of,
    profile_from,
    profile_of,
    searches_in,
    unique,
)
from experiments.runs import archive
from experiments.runs.schema import Job, Limits


@pytest.fixture
def jobs() -> list[Job]:
    return jobs_of("tuned", "paper", ["iris", "wine"], ["cart", "gradtree"], [0, 1])


class TestEstimates:
    def test_are_medians_per_learner_and_dataset(self):
        runs = archive.read_runs(columns=["method", "dataset", "evaluation", "cpu_seconds"])
        own = runs[(runs["method"] == "gradtree") & (runs["dataset"] == "wine")]
        assert plan.seconds_of("gradtree", "wine") == own["cpu_seconds"].median()

    def test_scale_with_the_data_where_nothing_is_known(self, plugged):
        guess = plan.seconds_of("shallow", "my-shop")
        assert guess == 120 * 4 * plan.GUESS_SECONDS_PER_CELL
        rate = plan.seconds_of("cart", "my-shop") / (120 * 4)
        assert 0 < rate < 1e-3

    def test_of_the_papers_tables_are_near_what_they_took(self):
        jobs = unique(jobs_in(profile_of("paper")))
        runs = archive.read_runs(columns=["key", "cpu_seconds"]).set_index("key")["cpu_seconds"]
        took = runs[[job.key for job in jobs]].sum()
        assert plan.make_plan(jobs, {}, Limits()).core_seconds == pytest.approx(took, rel=0.15)

    def test_of_a_search_are_by_its_scores_and_who_will_decline_takes_nothing(self):
        spent = search_seconds(Subject("paper", "iris", "gradtree"), 300)
        half = search_seconds(Subject("paper", "iris", "gradtree"), 150)
        assert spent == pytest.approx(2 * half)
        assert spent > search_seconds(Subject("paper", "iris", "cart"), 300) > 0
        (job,) = jobs_of("default", "paper", ["adult"], ["dndt"], [0])
        assert plan.make_plan([job], {}, Limits()).seconds == {job.key: 0.0}


class TestPlan:
    def test_jobs_alone_share_no_core(self, jobs):
        alone = jobs_of("runtime", "paper", ["wine"], ["gradtree"], [0, 1])
        both = [*jobs, *alone]
        found = plan.Plan(both, both, {job.key: 10.0 for job in both})
        assert found.core_seconds == 100.0
        assert found.wall_seconds(4) == 20.0 + 20.0
        assert found.wall_seconds(100) == 20.0 + 10.0

    def test_parts_have_shared_work_once_and_limits_of_their_own(self, jobs):
        short = plan.make_plan(jobs[:6], {}, Limits(seconds=1e-6))
        both = plan.together([short, plan.make_plan(jobs[4:], {}, Limits())])
        assert both.jobs == both.pending == jobs
        assert list(short.seconds.values()) == [1e-6] * 6
        assert both.core_seconds > 1e-3

    def test_shards_are_disjoint_and_complete_and_keep_groups(self):
        jobs = unique(jobs_in(profile_of("smoke")))
        shares = [plan.shard(jobs, index, 3) for index in (1, 2, 3)]
        assert sorted(job.key for share in shares for job in share) == sorted(j.key for j in jobs)
        groups = [{job.group for job in share} for share in shares]
        assert not groups[0] & groups[1] | groups[1] & groups[2] | groups[0] & groups[2]

    def test_of_the_largest_profile_takes_under_three_seconds(self):
        began = time.process_time()
        jobs = unique(jobs_in(profile_of("full")))
        plan.make_plan(jobs, {}, Limits())
        assert time.process_time() - began < 3


PAPER_TABLES = ("tuned", "default", "ablation-tuned", "ablation-default", "no-penalty", "runtime")


class TestProfiles:
    def test_paper_is_exactly_the_papers_tables(self):
        jobs = jobs_in(profile_of("paper"))
        assert {job.experiment for job in jobs} == set(PAPER_TABLES)
        assert {job.protocol for job in jobs} == {"paper"}
        assert len({job.dataset for job in jobs}) == 36
        assert {job.trial for job in jobs} == set(range(10))

    def test_full_has_every_experiment_and_the_search(self):
        full = profile_of("full")
        assert {job.experiment for job in jobs_in(full)} == set(EXPERIMENTS)
        assert {trials for _, trials in searches_in(full)} == {300}
        leaves = [leaf.slug for leaf in full.leaves()]
        assert leaves.index("search") < leaves.index("searched")
        assert len(leaves) == len(set(leaves))

    def test_every_profile_is_well_formed(self):
        for slug, profile in declared_profiles().items():
            assert profile.leaves(), slug
            chosen = Selection(datasets=["iris", "servo"], trials=[0])
            assert jobs_in(profile, chosen) or searches_in(profile, chosen), slug

    def test_regressions_are_planned_where_a_part_asks_for_them_only(self):
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
        with pytest.raises(ValueError, match=r"Write .*\['all', 'fresh', 'regression'\]"):
            profile_from("own", {"parts": [{**part, "datasets": "regresion"}]})

    def test_shared_work_is_done_once_and_planned_everywhere(self):
        jobs = jobs_in(profile_of("paper"))
        assert len(jobs) == 9000
        assert len(unique(jobs)) == 7300
        dl85 = {j.key for j in jobs if j.method == "dl85" and j.experiment == "tuned"}
        assert dl85 == {j.key for j in jobs if j.method == "dl85" and j.experiment == "default"}

    def test_trials_beyond_the_ten_can_be_named(self):
        chosen = Selection(datasets=["iris"], methods=["cart"], trials=[3, 12])
        assert {job.trial for job in jobs_in(profile_of("smoke"), chosen)} == {3, 12}


def test_learners_beyond_the_paper_join_elsewhere():
    under = {
        protocol: {job.method for job in jobs_of("default", protocol, ["iris"], None, [0])}
        for protocol in ("paper", "clean")
    }
    assert under["clean"] - under["paper"] == {"boosting", "cart-pruned", "optimal-tree"}
