"""The plan: what is to do, by medians of the committed runs, quickly."""

from __future__ import annotations

import time
from pathlib import Path

import plugins
import pytest

from experiments.runner import plan, plugin, registry
from experiments.runner.candidates import Subject
from experiments.runner.experiments import jobs_in, jobs_of, profile_of, unique
from experiments.runs import archive
from experiments.runs.job import Job, Limits
from experiments.runs.store import Store


@pytest.fixture
def jobs() -> list[Job]:
    return jobs_of("tuned", "paper", ["iris", "wine"], ["cart", "gradtree"], [0, 1])


class TestEstimates:
    def test_are_medians_per_learner_and_dataset(self) -> None:
        runs = archive.read_runs(columns=["method", "dataset", "evaluation", "cpu_seconds"])
        own = runs[(runs["method"] == "gradtree") & (runs["dataset"] == "wine")]
        assert plan.seconds_of("gradtree", "wine") == own["cpu_seconds"].median()

    def test_scale_with_the_data_where_nothing_is_known(self, plugged: Path) -> None:
        guess = plan.seconds_of("shallow", "my-shop")
        assert guess == 120 * 4 * plan.GUESS_SECONDS_PER_CELL
        rate = plan.seconds_of("cart", "my-shop") / (120 * 4)
        assert 0 < rate < 1e-3

    def test_of_the_papers_tables_are_near_what_they_took(self) -> None:
        jobs = unique(jobs_in(profile_of("paper")))
        runs = archive.read_runs(columns=["key", "cpu_seconds"]).set_index("key")["cpu_seconds"]
        took = runs[[job.key for job in jobs]].sum()
        assert plan.make_plan(jobs, {}, Limits()).core_seconds == pytest.approx(took, rel=0.15)

    def test_of_a_search_are_by_its_scores(self) -> None:
        spent = plan.search_seconds(Subject("paper", "iris", "gradtree"), 300)
        half = plan.search_seconds(Subject("paper", "iris", "gradtree"), 150)
        assert spent == pytest.approx(2 * half)
        assert spent > plan.search_seconds(Subject("paper", "iris", "cart"), 300) > 0

    def test_learners_that_will_decline_take_nothing(self) -> None:
        (job,) = jobs_of("default", "paper", ["adult"], ["dndt"], [0])
        assert plan.make_plan([job], {}, Limits()).seconds == {job.key: 0.0}


class TestPlan:
    def test_counts_what_is_done(self, tmp_path: Path, jobs: list[Job]) -> None:
        store = Store(tmp_path)
        store.add([jobs[0].run("ok", test_f1=0.5), jobs[1].run("error", reason="?")])
        found = plan.make_plan(jobs, store.statuses(), Limits())
        assert found.pending == jobs[1:]
        retried = plan.make_plan(jobs, store.statuses(), Limits(), ["error"])
        assert retried.pending == [jobs[1]]

    def test_jobs_alone_share_no_core(self, jobs: list[Job]) -> None:
        alone = jobs_of("runtime", "paper", ["wine"], ["gradtree"], [0, 1])
        both = [*jobs, *alone]
        found = plan.Plan(both, both, {job.key: 10.0 for job in both})
        assert found.core_seconds == 100.0
        assert found.wall_seconds(4) == 20.0 + 20.0
        assert found.wall_seconds(100) == 20.0 + 10.0

    def test_tells_core_time_and_idle_cores(self, jobs: list[Job]) -> None:
        text = plan.render(plan.Plan(jobs, jobs, {job.key: 60.0 for job in jobs}), 2)
        assert (
            "8 of 8 jobs to do: about 8 min 00 s of core time, 4 min 00 s on 2 idle cores" in text
        )
        assert plan.render(plan.Plan(jobs, [], {}), 2).endswith("All 8 jobs are done.")

    def test_shards_are_disjoint_and_complete_and_keep_groups(self) -> None:
        jobs = unique(jobs_in(profile_of("smoke")))
        shares = [plan.shard(jobs, index, 3) for index in (1, 2, 3)]
        assert sorted(job.key for share in shares for job in share) == sorted(j.key for j in jobs)
        groups = [{job.group for job in share} for share in shares]
        assert not groups[0] & groups[1] | groups[1] & groups[2] | groups[0] & groups[2]

    def test_of_the_largest_profile_takes_under_three_seconds(self) -> None:
        began = time.process_time()
        jobs = unique(jobs_in(profile_of("full")))
        plan.make_plan(jobs, {}, Limits())
        assert time.process_time() - began < 3


class TestChangedCode:
    """An edited plug-in under the same version is told; its old runs are not passed off as new."""

    def store(self, folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> list[Job]:
        monkeypatch.setenv(registry.VARIABLE, "")
        plugin.imported.cache_clear()
        registry._entries.cache_clear()
        registry.use([plugins.write(folder, text)])
        return jobs_of("default", "paper", ["iris"], ["shallow"], [0, 1])

    def test_is_told_until_it_is_refitted(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = Store(tmp_path / "runs")
        jobs = self.store(tmp_path, plugins.LEARNER, monkeypatch)
        plan.note_plan(store, jobs)
        store.add([jobs[0].run("ok", test_f1=0.5)])
        assert plan.stale_learners(store, jobs) == {}
        same = "# a comment\n" + plugins.LEARNER + "METRICS = {'mine': lambda y, p: 1.0}\n"
        jobs = self.store(tmp_path, same, monkeypatch)
        assert plan.stale_learners(store, jobs) == {}
        edited = plugins.LEARNER.replace("y = split.X_train_valid", "y = split.X_train")
        edited = edited.replace("split.y_train_valid", "split.y_train")
        jobs = self.store(tmp_path, edited, monkeypatch)
        for _ in range(2):  # it is told again, until something is done about it
            stale = plan.stale_learners(store, jobs)
            assert stale == {"shallow": 1}
            plan.note_plan(store, jobs, list(stale))
        newer = self.store(tmp_path, edited.replace('"1", d', '"2", d'), monkeypatch)
        assert plan.stale_learners(store, newer) == {}
