"""The frame of runs, and the paper's printed cells, which give its printed summaries."""

import pandas as pd
import pytest
from runner_helpers import archived

from experiments.analysis.grids import added, declarations, declared, printed_grid
from experiments.analysis.printed import printed
from experiments.analysis.runs import as_tuned, load
from experiments.analysis.stats import ranks_of
from experiments.errors import UserError
from experiments.runs import archive
from experiments.runs.schema import Job
from experiments.runs.store import Store


def job(trial: int, experiment: str = "tuned", **fields: object) -> Job:
    given = {"protocol": "clean", "dataset": "iris", "method": "cart", "params": "{}", "seed": 42}
    return Job(experiment=experiment, trial=trial, **{**given, **fields})  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path):
    """A store with three planned jobs, of which two have ended."""
    made = Store(tmp_path / "store")
    jobs = [job(0), job(1), job(2), job(0, "default")]
    made.plan(jobs)
    made.add(
        [
            jobs[0].run("ok", test_f1=0.5, tree_size=7, finished="2026-01-01T00:00:00.000Z"),
            jobs[1].run("timeout", limit_value=60.0, reason="more than 60 s"),
        ]
    )
    made.add_facts("learner", {"cart": {"slug": "cart", "name": "My CART"}})
    made.close()
    return tmp_path / "store"


def test_a_run_stands_in_every_experiment_that_plans_it(store):
    frame = load(store).frame
    assert frame["experiment"].tolist() == ["default", "tuned", "tuned", "tuned"]
    assert frame["status"].tolist() == ["ok", "ok", "timeout", ""]
    assert frame["test_f1"].tolist()[:2] == [0.5, 0.5]
    assert frame["test_f1"].isna().tolist() == [False, False, True, True]
    assert frame["tree_size"].dtype == float
    assert frame["limit_value"].tolist()[2] == 60.0


def test_an_archive_and_a_store_give_the_same_frame(store, tmp_path):
    from_store, from_archive = load(store), load(archived(Store(store), tmp_path / "a"))
    pd.testing.assert_frame_equal(from_store.frame, from_archive.frame)
    assert from_store.name("cart") == from_archive.name("cart") == "My CART"


def test_names_come_from_the_stores_facts_then_the_committed_ones_then_the_slug(store):
    runs = load(store)
    assert [runs.name(slug) for slug in ("cart", "iris", "me")] == ["My CART", "Iris", "me"]


def test_a_folder_without_runs_or_printed_numbers_is_told(tmp_path):
    with pytest.raises(UserError, match="holds no runs"):
        load(tmp_path)
    with pytest.raises(UserError, match=r"dataset_specs\.csv is missing"):
        printed(tmp_path)


def test_what_our_search_found_can_stand_for_the_published_settings():
    experiments = ["tuned", "tuned", "searched", "default"]
    methods = ["cart", "dl85", "cart", "cart"]
    found = as_tuned(pd.DataFrame({"experiment": experiments, "method": methods}))
    assert found["experiment"].to_dict() == {1: "tuned", 2: "tuned", 3: "default"}


def test_a_stores_own_winners_replace_the_committed_ones(store):
    committed = load().winners
    first = committed.iloc[0]
    (store / "search").mkdir()
    own = pd.DataFrame([first]).assign(score=0.999)
    own.to_csv(store / "search" / "winners.csv", index=False)
    found = load(store).winners
    assert len(found) == len(committed)
    place = found["protocol"] + found["dataset"] + found["method"]
    own_place = first["protocol"] + first["dataset"] + first["method"]
    assert found.loc[place == own_place, "score"].tolist() == [0.999]


def test_the_committed_plan_names_each_place_once_and_every_run():
    frame = load().frame
    place = ["experiment", "protocol", "dataset", "method", "trial", "seed", "repeat"]
    assert not frame.duplicated(place).any()
    assert set(archive.read_runs(columns=["key"])["key"]) <= set(frame["key"])


PAPER, TABLES = printed(), list(declarations()["paper"])
KEYS = ["table", "task", "dataset", "statistic", "method", "field"]


def listed(name: str, of_cells: bool) -> set[tuple[str, ...]]:
    known = PAPER.inconsistencies
    known = known[(known["table"] == name) & ((known["dataset"] != "") == of_cells)]
    return set(known.loc[known["field"] != "missing", KEYS].itertuples(index=False, name=None))


@pytest.mark.parametrize("name", TABLES)
def test_summary_lines_follow_from_the_cells(name):
    table, found = printed_grid(name), set()
    theirs = PAPER.summaries[PAPER.summaries["table"] == name]
    both = theirs.merge(table.summary, on=["task", "statistic", "method"], suffixes=("", "_mine"))
    assert len(both) == len(theirs)
    for line in both.itertuples():
        where = (name, line.task, "", line.statistic, line.method)
        if pd.isna(line.value):
            assert pd.isna(line.value_mine)
            continue
        half = 0.5 * 10.0**-table.summary_decimals  # Mean: as much again, its cells are rounded too
        tolerance = (2 * half if line.statistic == "Mean" else half) + 1e-9
        for field in ("value", "spread"):
            if abs(getattr(line, f"{field}_mine") - getattr(line, field)) > tolerance:
                found.add((*where, field))
        if line.rank_mine != line.rank:
            found.add((*where, "rank"))
    assert found == listed(name, of_cells=False)


@pytest.mark.parametrize("name", TABLES)
def test_what_the_datasets_add_to_reciprocal_ranks_makes_their_means(name):
    """Printed ties are shared, or broken as the paper's own ranks break them, in both."""
    table = printed_grid(name)
    lines = table.summary[table.summary["statistic"] == "MRR"]
    for task, part in lines.groupby("task"):
        means = added(table, task, "MRR").mean()
        assert means[part["method"]].tolist() == pytest.approx(part["value"].tolist(), abs=1e-12)


@pytest.mark.parametrize("name", TABLES)
def test_bracketed_ranks_follow_from_the_cells(name):
    cells = PAPER.of(name)
    means = cells.pivot(index="dataset", columns="method", values="mean")
    shared = ranks_of(means, declared(name).smaller_is_better)
    brackets = printed_grid(name).frame.set_index(["dataset", "method"])["rank"]
    found = set()
    for cell in cells.dropna(subset="mean").itertuples():
        fits = (shared.at[cell.dataset, cell.method], brackets[cell.dataset, cell.method])
        if cell.rank not in fits:
            found.add((name, cell.task, cell.dataset, "", cell.method, "rank"))
    assert found == listed(name, of_cells=True)
