"""The paper's printed cells give its printed summaries, but for the inconsistencies listed."""

from __future__ import annotations

import pandas as pd
import pytest

from experiments.analysis.grids import added, declarations, declared, printed_grid
from experiments.analysis.printed import printed, slug
from experiments.analysis.stats import over_datasets, ranks_of
from experiments.errors import UserError

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


def test_wins_are_those_of_the_text():
    lines = printed_grid("test-f1-tuned").summary
    wins = lines[lines["statistic"] == "Wins"].groupby("task")["value"].agg(list)
    assert wins.to_dict() == {"binary": [13, 1, 2, 0, 6], "multi": [5, 1, 0, 0, 8]}


def test_the_summary_table_follows_from_the_cells():
    differing = []
    for task in ("binary", "multi"):
        lines = {
            "tree_size": (added(printed_grid("tree-size-tuned"), task, "Mean"), 0.5),
            "default_mrr": (added(printed_grid("test-f1-default"), task, "MRR"), 0.0005),
        }
        train, test = (
            added(printed_grid(f"{at}-f1-tuned"), task, "Mean") for at in ("train", "test")
        )
        lines["train_test_diff"] = (train - test, 0.0015)
        for name, (values, tolerance) in lines.items():
            for method, printed_value in PAPER.summary[f"{name}_{task}"].items():
                mine = over_datasets(values[method])["value"]
                if abs(mine - printed_value) > tolerance + 1e-9:
                    differing.append((method, f"{name}_{task}"))
    assert differing == [("gradtree", "default_mrr_multi")]


def test_datasets_come_in_the_order_of_the_paper():
    tasks = PAPER.datasets["task"].tolist()
    assert tasks == ["binary"] * 22 + ["multi"] * 14
    assert PAPER.datasets.index[0] == "blood-transfusion" == slug("Blood Transfusion")
    counts = PAPER.datasets["class_counts"].str.split("/").str.len()
    assert (counts == PAPER.datasets["n_classes"]).all()


def test_every_cell_and_hyperparameter_is_there():
    for name in TABLES:
        assert len(PAPER.of(name)) == 36 * len(declared(name).methods)
        assert not PAPER.of(name).duplicated(["dataset", "method"]).any()
    small = PAPER.datasets.index[PAPER.datasets["n_features"] <= 12]
    for method, values in PAPER.hyperparameters.items():
        everywhere = small if method == "dndt" else PAPER.datasets.index
        assert set(values.index) == set(everywhere)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"dataset_specs\.csv is missing"):
        printed(tmp_path)
