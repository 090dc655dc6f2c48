"""Compute spent beside the authors' runtimes, and runtimes relative to two learners."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tables_support import job, paper_as_ours

from experiments.analysis.costs import compute_sheet, multiple, runtime_sheet, spent
from experiments.analysis.findings import findings_of
from experiments.analysis.grids import collect
from experiments.analysis.paper import load_paper
from experiments.core.job import Job
from experiments.core.record import RunRecord

PAPER = load_paper()


def restarted(restarts: int, trial: int, experiment: str = "tuned") -> Job:
    params = Job.freeze({"restarts": restarts})
    return replace(job(experiment, "iris", "gradtree", trial), params_json=params)


class TestCompute:
    def test_restarts_count_as_further_runs_of_the_authors(self) -> None:
        jobs = [restarted(3, 0), restarted(5, 1)]
        records = {one.key: RunRecord.of(one, "ok", cpu_seconds=1.8) for one in jobs}
        (iris,) = spent(collect(jobs, records), PAPER)
        printed = PAPER.cells["runtime"]["iris", "gradtree"].mean
        assert iris.runs == 2
        assert iris.hours == pytest.approx(0.001)
        assert iris.authors_hours == pytest.approx(printed * (4 + 6) / 3600)

    def test_a_run_shared_by_experiments_counts_once(self) -> None:
        jobs = [restarted(0, 0), restarted(0, 0, "ablation-tuned")]
        assert jobs[0].key == jobs[1].key
        records = {jobs[0].key: RunRecord.of(jobs[0], "ok", cpu_seconds=3.6)}
        (iris,) = spent(collect(jobs, records), PAPER)
        assert (iris.runs, iris.hours) == (1, pytest.approx(0.001))

    @pytest.mark.parametrize("ran_as", ["default", "small-trees"])
    def test_a_run_is_compared_unless_only_small_trees_use_it(self, ran_as: str) -> None:
        """Whichever of its experiments it was run for."""
        shared = [restarted(0, 0, "default"), restarted(0, 0, "small-trees")]
        jobs = [*shared, restarted(0, 1, "small-trees")]
        records = {
            one.key: RunRecord.of(replace(one, experiment=ran_as), "ok", cpu_seconds=3.6)
            for one in jobs
        }
        (iris,) = spent(collect(jobs, records), PAPER)
        assert (iris.runs, iris.compared_runs) == (2, 1)
        assert iris.compared_hours == pytest.approx(0.001)

    def test_failures_do_not_count_and_unprinted_learners_have_no_counterpart(self) -> None:
        good, bad = (job("default", "iris", "boosting", trial) for trial in (0, 1))
        records = {
            good.key: RunRecord.of(good, "ok", cpu_seconds=36.0),
            bad.key: RunRecord.of(bad, "timeout", cpu_seconds=3600.0),
        }
        sheet = compute_sheet(collect([good, bad], records), PAPER)
        (row,) = sheet.rows
        assert row[1:] == (1, pytest.approx(0.01), None, None)


class TestRuntimeRatios:
    def test_the_papers_own_runtimes_give_its_own_ratios(self) -> None:
        tables = findings_of(*paper_as_ours(PAPER), paper=PAPER)
        ours, printed = tables.table_sets["paper"].tables, tables.printed.tables
        for row in runtime_sheet(ours, printed).rows:
            for mine, theirs in zip(row[2::2], row[3::2], strict=True):
                assert mine == (None if theirs is None else pytest.approx(theirs, rel=1e-3))

    def test_a_ratio_is_over_the_datasets_both_finished(self) -> None:
        table = findings_of(*paper_as_ours(PAPER), paper=PAPER).printed.tables["runtime"]
        cells = PAPER.cells["runtime"]
        both = [
            (cells[one.slug, "cart"].mean, cells[one.slug, "dl85"].mean)
            for one in PAPER.of_task("multi")
            if cells[one.slug, "dl85"].mean is not None
        ]
        expected = sum(cart for cart, _ in both) / sum(dl85 for _, dl85 in both)
        assert len(both) == 13
        assert multiple(table, "multi", "cart", "dl85") == pytest.approx(expected)
