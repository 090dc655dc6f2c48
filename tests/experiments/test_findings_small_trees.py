"""The comparison of small trees, from an invented store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tables_support import Records, job

from experiments.analysis import small_trees_answer
from experiments.analysis.distilled import against_control
from experiments.analysis.findings import findings_of
from experiments.analysis.grids import collect
from experiments.analysis.small_trees import READINGS, Line, SmallTrees, compare
from experiments.analysis.small_trees_answer import answer, recommendation
from experiments.analysis.small_trees_sheets import sheets_of
from experiments.core.job import Job
from experiments.core.planned import DatasetFacts
from experiments.core.record import RunRecord
from experiments.core.store import COMMITTED, Store
from experiments.render.report.compact import small_trees
from experiments.render.report.comparisons import small_trees_plate, small_trees_section
from experiments.runner.catalogue import CAPS, EXPERIMENTS, jobs_of
from experiments.runner.profiles import profiles, select

LEAD = {"cart-pruned": 0.0, "cart-control": 0.02, "contree": -0.05, "boosting": 0.1}
SLUGS = [f"old-{i}" for i in range(10)] + [f"new-{i}" for i in range(6)]
FACTS = {
    slug: DatasetFacts(
        slug, slug.title(), "multi" if i % 2 else "binary", 100 * (i + 1), 5, (50, 50), (), i < 10
    )
    for i, slug in enumerate(SLUGS)
}


def f1_of(dataset: str, method: str) -> float:
    return 0.6 + 0.01 * SLUGS.index(dataset) + LEAD[method]


def invented() -> tuple[list[Job], Records]:
    """Two trials of four learners; ConTree lacks one dataset, boosting has no cap."""
    jobs: list[Job] = []
    records: Records = {}
    for reading in READINGS:
        for dataset in SLUGS:
            for method in LEAD:
                if method == "boosting" and reading != "small-trees":
                    continue
                for trial in range(2):
                    each = job(reading, dataset, method, trial, protocol="clean")
                    jobs.append(each)
                    if (method, dataset) == ("contree", "old-0"):
                        records[each.key] = RunRecord.of(each, "skipped", reason="too wide")
                        continue
                    score = f1_of(dataset, method) + (0.01 if trial else -0.01)
                    tree = method != "boosting"
                    records[each.key] = RunRecord.of(
                        each,
                        "ok",
                        test_f1=score,
                        test_log_loss=0.5,
                        test_brier=0.3,
                        cpu_seconds=1.5,
                        leaves=8 if tree else None,
                        tree_size=15 if tree else None,
                        path_length=3.0 if tree else None,
                    )
    return jobs, records


@pytest.fixture(scope="module")
def compared() -> SmallTrees:
    return compare(collect(*invented()), FACTS)


def line_of(compared: SmallTrees, method: str, reading: str, group: str) -> Line:
    (found,) = [
        line
        for line in compared.lines
        if (line.method, line.place.reading) == (method, reading) and group in line.place.group
    ]
    return found


def test_means_are_over_datasets_that_everyone_finished(compared: SmallTrees) -> None:
    line = line_of(compared, "cart-pruned", "small-trees-8", "paper")
    assert line.n == 9
    expected = sum(f1_of(slug, "cart-pruned") for slug in SLUGS[1:10]) / 9
    assert line.f1.estimate == pytest.approx(expected)
    assert line.f1.low < expected < line.f1.high


def test_who_finished_few_has_no_line_and_takes_no_dataset_from_the_rest() -> None:
    jobs, records = invented()
    slow = {each.key for each in jobs if each.method == "contree" and each.dataset > "old-3"}
    left = {key: record for key, record in records.items() if key not in slow}
    found = compare(collect(jobs, left), FACTS)
    lines = [line for line in found.lines if "paper" in line.place.group]
    assert {line.method for line in lines} == {"cart-pruned", "cart-control", "boosting"}
    assert {line.n for line in lines} == {10}


def test_ranks_and_the_share_of_the_ceiling(compared: SmallTrees) -> None:
    best = line_of(compared, "cart-control", "small-trees-16", "fresh")
    assert best.rank == 1.0
    top = sum(f1_of(slug, "boosting") for slug in SLUGS[10:]) / 6
    assert best.ceiling == pytest.approx(best.f1.estimate / top)
    ceiling = line_of(compared, "boosting", "small-trees", "fresh")
    assert ceiling.ceiling == pytest.approx(1.0)


def test_sizes_seconds_and_probabilities_are_averaged(compared: SmallTrees) -> None:
    line = line_of(compared, "contree", "small-trees-8", "fresh")
    assert line.means == {
        "test_log_loss": 0.5,
        "test_brier": pytest.approx(0.3),
        "tree_size": 15.0,
        "leaves": 8.0,
        "path_length": 3.0,
        "cpu_seconds_alone": 1.5,
    }
    assert line_of(compared, "boosting", "small-trees", "fresh").means["leaves"] is None


def test_tests_pair_the_datasets_of_two_and_are_corrected_together(compared: SmallTrees) -> None:
    (test,) = [
        each
        for each in compared.tests
        if (each.method, each.against) == ("cart-control", "cart-pruned")
        and each.place.reading == "small-trees"
        and "paper" in each.place.group
    ]
    found = test.contrast
    assert (found.n, found.wins, found.ties, found.losses) == (10, 10, 0, 0)
    assert found.difference.estimate == pytest.approx(0.02)
    assert found.p_value == pytest.approx(2 / 2**10)
    assert found.p_adjusted > found.p_value
    assert not any(each.method == "boosting" for each in compared.tests)


def test_no_pair_is_tested_twice(compared: SmallTrees) -> None:
    pairs = [(each.place, frozenset((each.method, each.against))) for each in compared.tests]
    assert len(set(pairs)) == len(pairs)


def test_situations_are_of_both_groups(compared: SmallTrees) -> None:
    few = ("fewer than 500 rows", "small-trees-8")
    assert few not in compared.situations, "three datasets are too few"
    mean, n = compared.situations["three or more classes", "small-trees-8"]["cart-control"]
    assert n == 8
    assert mean == pytest.approx(sum(f1_of(slug, "cart-control") for slug in SLUGS[1::2]) / 8)


def test_the_answer_names_the_best_tree_and_not_the_ceiling(compared: SmallTrees) -> None:
    sentences = answer(compared)
    assert sentences[0] == (
        "Free size: CART, weighted on a grid 0.670 (9 datasets; CART, pruned 0.650) on the paper’s "
        "datasets; CART, weighted on a grid 0.745 (6 datasets; CART, pruned 0.725) on fresh "
        "datasets."
    )
    assert not any("Boosting" in sentence for sentence in sentences)


def test_the_answer_tells_who_is_surely_better_and_worse(compared: SmallTrees) -> None:
    (told,) = [each for each in answer(compared) if "better than CART, pruned" in each]
    better, worse = told.split(" Significantly worse: ")
    assert "on the paper’s datasets CART, weighted on a grid (free size +0.020" in better
    assert worse == "nobody.", "on nine datasets ConTree cannot be told apart"
    sure = [
        replace(each, contrast=replace(each.contrast, p_adjusted=0.01)) for each in compared.tests
    ]
    (told,) = [
        each
        for each in answer(replace(compared, tests=tuple(sure)))
        if "better than CART, pruned" in each
    ]
    assert (
        "worse: on the paper’s datasets ConTree (free size -0.050, at most 8 leaves -0.050" in told
    )


@pytest.mark.parametrize(("limit", "quick"), [(1.0, False), (2.0, True)])
def test_the_answer_knows_who_is_quick(
    compared: SmallTrees, monkeypatch: pytest.MonkeyPatch, limit: float, quick: bool
) -> None:
    monkeypatch.setattr(small_trees_answer, "QUICK_SECONDS", limit)
    (told,) = [each for each in answer(compared) if each.startswith("CPU seconds")]
    assert "CART, pruned 1.5" in told
    assert ("Within 2 s, CART, weighted on a grid 0.670" in told) == quick


def test_the_recommendation_says_who_beats_pruned_cart_and_who_ranks_first(
    compared: SmallTrees,
) -> None:
    told = recommendation(compared)
    assert told is not None
    assert told.startswith("Significantly better than CART, pruned, of 2 other learners")
    assert "clean: on the paper’s datasets CART, weighted on a grid (free size +0.020" in told
    first = "CART, weighted on a grid among 3 of"
    assert f"{first} at most 8, 16 or 32 leaves (1.0; CART, pruned 2.0)" in told
    assert f"{first} any size (1.0; CART, pruned 2.0)." in told
    worse = [each for each in compared.tests if each.method == "contree"]
    told = recommendation(replace(compared, tests=tuple(worse)))
    assert str(told).startswith("CART, pruned: of 1 other learners of one tree under protocol")
    assert recommendation(SmallTrees()) is None


def test_sheets_have_an_entry_per_column(compared: SmallTrees) -> None:
    for sheet in sheets_of(compared):
        assert sheet.rows
        assert {len(row) for row in sheet.rows} == {len(sheet.columns)}


def test_the_report_has_a_section_and_a_picture_once_trees_ran(tmp_path: Path) -> None:
    from experiments.render.figures.style import save

    jobs, records = invented()
    before = findings_of([], {})
    assert small_trees_section(before) == ()
    assert small_trees_plate(before) == []
    found = findings_of(jobs, records)
    found = replace(found, small_trees=compare(found.results, FACTS))
    (section,) = small_trees_section(found)
    (plate,) = small_trees_plate(found)
    assert section.figures == (plate.name,)
    assert all(path.stat().st_size > 1000 for path in save(plate.figure, tmp_path / plate.name))


def test_every_reading_is_an_experiment_of_the_profile() -> None:
    jobs = select(profiles()["small-trees"])
    assert {each.experiment for each in jobs} == set(READINGS) <= set(EXPERIMENTS)
    assert {each.dataset for each in jobs} >= {"iris", "yeast"}
    caps = {each.params["max_leaves"] for each in jobs if each.method == "cart-control"}
    assert caps == {0, 8, 16, 32}


def test_no_committed_tree_exceeds_the_leaves_of_its_reading() -> None:
    records = Store(COMMITTED).latest()
    checked = 0
    for cap in CAPS:
        for each in jobs_of(f"small-trees-{cap}", "clean"):
            record = records.get(each.key)
            if record is not None and record.status == "ok":
                assert record.leaves is not None
                assert record.leaves <= cap, each
                checked += 1
    assert checked > 10_000


def test_what_readings_share_is_run_once() -> None:
    free, capped = (jobs_of(name, "clean", ["iris"]) for name in ("small-trees", "small-trees-32"))
    shared = {each.key for each in free} & {each.key for each in capped}
    assert {each.method for each in free if each.key in shared} == {
        "dl85-tuned",
        "streed",
        "licketysplit",
        "contree",
    }


def test_gradtree_as_published_and_boosting_are_those_of_the_default_experiment() -> None:
    default = {each.key for each in jobs_of("default", "clean", ["iris"])}
    free = jobs_of("small-trees", "clean", ["iris"], ["gradtree", "boosting"])
    assert {each.key for each in free} <= default


def distilled_table(path: Path, lead: float) -> Path:
    """An estimator ahead of the control by ``lead`` on every fresh dataset, a prototype by .1."""
    rows = [
        f"{version},{dataset},{trial},small-trees-8,{f1_of(dataset, 'cart-control') + ahead},6\n"
        for version, ahead in (("prototype", 0.1), ("estimator", lead))
        for dataset in SLUGS[10:]
        for trial in range(2)
    ]
    path.write_text("version,dataset,trial,reading,test_f1,leaves\n" + "".join(rows))
    return path


@pytest.mark.parametrize(
    ("lead", "verdict"), [(0.004, "so no code stayed"), (0.02, "so it should be kept")]
)
def test_the_distilled_tree_is_judged_by_the_control(
    compared: SmallTrees, tmp_path: Path, lead: float, verdict: str
) -> None:
    control = {"small-trees-8": {slug: f1_of(slug, "cart-control") for slug in SLUGS}}
    found = against_control(control, distilled_table(tmp_path / "distilled.csv", lead))
    assert list(found) == [("prototype", "small-trees-8"), ("estimator", "small-trees-8")]
    assert found["estimator", "small-trees-8"].n == 6
    (sentence,) = [
        each for each in answer(replace(compared, distilled=found)) if "distilled" in each
    ]
    assert f"estimator: at most 8 leaves +{lead:.3f}" in sentence
    assert verdict in sentence


def test_without_its_scores_nothing_is_said(tmp_path: Path) -> None:
    assert against_control({"small-trees-8": {}}, tmp_path / "none.csv") == {}


def test_the_compact_table_has_a_row_per_learner_and_a_star_for_who_differs(
    compared: SmallTrees,
) -> None:
    sheet = small_trees(compared)
    names = [column.name for column in sheet.columns]
    assert names[1] == "free size (9)"  # ConTree lacks one
    rows = {row[0]: row for row in sheet.rows}
    assert set(rows) == {"CART, pruned", "CART, weighted on a grid", "ConTree", "Boosting"}
    assert rows["CART, pruned"][1] == "0.650"
    assert str(rows["CART, weighted on a grid"][1]).startswith("0.670")
    assert rows["CART, pruned"][-2:] == (15.0, 1.5)
    assert rows["Boosting"][names.index("at most 8 leaves (9)")] is None
