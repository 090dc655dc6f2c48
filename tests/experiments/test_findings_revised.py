"""GradTree's own defaults against the paper's, and each choice set back, on invented stores."""

from __future__ import annotations

import pytest
from tables_support import Records, paper_as_ours, runs

from experiments.analysis.findings import findings_of
from experiments.analysis.grids import Results, collect
from experiments.analysis.paper import load_paper
from experiments.analysis.revised import CHOICES, EXPERIMENT, REVISED, Worth, worths, worths_sheet
from experiments.core.job import Job
from experiments.render.files import files_of
from experiments.render.report import compact
from experiments.render.report.revised import revised_points, revised_section
from experiments.runner.catalogue import EXPERIMENTS

PAPER = load_paper()
Store = tuple[list[Job], Records]


def _store(gaps: dict[str, float], protocol: str = "clean") -> Store:
    """The revised defaults at 0.7; each other learner below by its gap, a little varied."""
    store: Store = ([], {})
    for at, dataset in enumerate(PAPER.datasets):
        values = {REVISED: 0.7, **{m: 0.7 - gap + 1e-3 * (at % 3 - 1) for m, gap in gaps.items()}}
        for method, value in values.items():
            jobs, records = runs(EXPERIMENT, dataset.slug, method, [value] * 10, protocol=protocol)
            store[0].extend(jobs)
            store[1].update(records)
    return store


def _results(gaps: dict[str, float]) -> Results:
    return collect(*_store(gaps))


def _over_all(found: list[Worth]) -> dict[str, Worth]:
    return {each.choice.method: each for each in found if each.scope == "all"}


def test_the_experiment_runs_every_choice():
    methods = EXPERIMENTS[EXPERIMENT].methods
    assert set(methods) == {REVISED, *(choice.method for choice in CHOICES)}


def test_a_choice_that_helps_a_choice_that_hurts_and_one_that_does_nothing():
    gaps = {f"{REVISED}-learned-leaves": 0.02, f"{REVISED}-by-loss": -0.03, f"{REVISED}-glorot": 0}
    found = _over_all(worths(_results(gaps), PAPER))
    for method, gap in gaps.items():
        assert found[method].contrast.difference.estimate == pytest.approx(gap, abs=1e-3)
    assert found[f"{REVISED}-learned-leaves"].contrast.significant
    assert found[f"{REVISED}-by-loss"].contrast.significant
    assert not found[f"{REVISED}-glorot"].contrast.significant


def test_the_sentences_sort_the_choices_out():
    gaps = {"gradtree": 0.05, f"{REVISED}-learned-leaves": 0.02, f"{REVISED}-by-loss": -0.03}
    whole, single = revised_points(worths(_results(gaps), PAPER))
    assert whole.startswith("Own defaults minus GradTree as published, protocol clean, 36 datasets")
    assert (
        "significantly better than what it replaces: leaves refitted on all rows +0.020" in single
    )
    assert "significantly worse: run and epoch chosen by F1 -0.030" in single


def test_a_dataset_without_all_trials_does_not_enter():
    jobs, records = _store({"cart": 0.01})
    first = next(job for job in jobs if job.method == "cart")
    del records[first.key]
    found = _over_all(worths(collect(jobs, records), PAPER))
    assert found["cart"].contrast.n == len(PAPER.datasets) - 1


def test_nothing_is_said_before_it_ran():
    jobs, records = paper_as_ours(PAPER)
    found = findings_of(jobs, records)
    assert found.revised == ()
    assert revised_section(found) == ()
    assert "gradtree-defaults.csv" not in files_of(found)


def test_section_and_files_once_it_ran():
    jobs, records = paper_as_ours(PAPER)
    more_jobs, more_records = _store({"gradtree": 0.05, "cart": 0.01})
    found = findings_of([*jobs, *more_jobs], {**records, **more_records})
    assert "gradtree-defaults.csv" in files_of(found)
    (section,) = revised_section(found)
    assert section.points
    shown = compact.revised(found.revised)
    assert [row[:2] for row in shown.rows] == [
        ("all defaults", "GradTree as published"),
        ("all defaults", "CART"),
    ]
    assert all(len(row) == len(shown.columns) for row in shown.rows)
    assert len(worths_sheet(found.revised).rows) == 6
