"""The paper's printed cells give its printed summaries, but for the inconsistencies listed."""

from __future__ import annotations

import pytest

from experiments.analysis.model import TASKS
from experiments.analysis.paper import dataset_slug, grids, load_paper
from experiments.analysis.ranking import shared_ranks
from experiments.analysis.table_set import paper_table_set

PAPER = load_paper()
TABLE_SET = paper_table_set(PAPER)


def _listed(**where: str) -> set[tuple[str, ...]]:
    return {
        (known.table, known.task, known.dataset, known.statistic, known.method, known.field)
        for known in PAPER.inconsistencies
        if all(getattr(known, key) == value for key, value in where.items())
    }


def _tolerance(statistic: str, decimals: int) -> float:
    """Half a unit of the last digit; for Mean as much again, its cells being rounded too."""
    half = 0.5 * 10.0**-decimals
    return (2 * half if statistic == "Mean" else half) + 1e-9


@pytest.mark.parametrize("name", list(grids()))
def test_summary_lines_follow_from_the_cells(name):
    table, found = TABLE_SET.tables[name], set()
    for block in table.blocks:
        for line in block.summaries:
            if not line.in_paper:
                continue
            for column, mine in zip(table.columns, line.statistics, strict=True):
                printed = PAPER.summaries[name][block.task, line.name, column.method]
                where = (name, block.task, "", line.name, column.method)
                if printed.value is None:
                    assert mine.value is None
                    continue
                tolerance = _tolerance(line.name, line.decimals)
                if abs(mine.value - printed.value) > tolerance:
                    found.add((*where, "value"))
                if abs(mine.spread - printed.spread) > tolerance:
                    found.add((*where, "spread"))
                if mine.rank != printed.rank:
                    found.add((*where, "rank"))
    assert found == _listed(table=name, dataset="")


@pytest.mark.parametrize("name", list(grids()))
def test_bracketed_ranks_follow_from_the_cells(name):
    table, found = TABLE_SET.tables[name], set()
    for block in table.blocks:
        for row in block.rows:
            shared = shared_ranks(row.cells, table.smaller_is_better)
            for column, cell, *ranks in zip(
                table.columns, row.cells, row.ranks, shared, strict=True
            ):
                if cell.mean is not None and cell.printed_rank not in ranks:
                    found.add((name, block.task, row.dataset, "", column.method, "rank"))
    assert found == _listed(table=name, statistic="", field="rank")


def test_recomputed_figures_of_the_list_are_what_the_cells_give():
    for known in PAPER.inconsistencies:
        if known.field == "missing":
            continue
        table = TABLE_SET.tables[known.table]
        block, at = table.block(known.task), table.column(known.method)
        if known.dataset:
            row = next(row for row in block.rows if row.dataset == known.dataset)
            assert str(row.ranks[at]) == known.recomputed
            continue
        line = block.summary(known.statistic)
        value = getattr(line.statistics[at], known.field)
        text = str(value) if known.field == "rank" else f"{value:.{line.decimals}f}"
        assert text == known.recomputed, known
        printed = getattr(
            PAPER.summaries[known.table][known.task, known.statistic, known.method], known.field
        )
        assert float(known.printed) == printed


def test_wins_are_those_of_the_text():
    wins = {
        task: [
            each.value
            for each in TABLE_SET.tables["test-f1-tuned"].block(task).summary("Wins").statistics
        ]
        for task in TASKS
    }
    assert wins == {"binary": [13, 1, 2, 0, 6], "multi": [5, 1, 0, 0, 8]}


def test_summary_table_follows_from_the_grids():
    columns = (
        ("tree_size_binary", 0.5),
        ("tree_size_multi", 0.5),
        ("train_test_diff_binary", 0.0015),
        ("train_test_diff_multi", 0.0015),
        ("default_mrr_binary", 0.0005),
        ("default_mrr_multi", 0.0005),
    )
    sheet = TABLE_SET.sheets["summary"]
    differing = []
    for row, method in zip(sheet.rows, PAPER.summary, strict=True):
        for value, (column, tolerance) in zip(row[1:], columns, strict=True):
            if abs(value - PAPER.summary[method][column]) > tolerance + 1e-9:
                differing.append((method, column))
    assert differing == [("gradtree", "default_mrr_multi")]


def test_ablation_summary_follows_from_the_grids():
    rows = TABLE_SET.sheets["ablation-summary"].rows
    printed = list(PAPER.ablation_summary.values())
    mine = [value for row in rows for value in row[1:]]
    assert mine == pytest.approx(printed, abs=0.001)


def test_dl85_needs_no_tuning_so_both_settings_print_the_same():
    tuned, default = PAPER.cells["test-f1-tuned"], PAPER.cells["test-f1-default"]
    assert all(tuned[key].mean == default[key].mean for key in tuned if key[1] == "dl85")


def test_datasets_come_in_the_order_of_the_paper():
    assert len(PAPER.of_task("binary")) == 22
    assert len(PAPER.of_task("multi")) == 14
    assert PAPER.datasets[0].slug == "blood-transfusion"
    features = [each.n_features for each in PAPER.of_task("multi")]
    assert features == sorted(features)
    assert all(len(each.class_counts) == each.n_classes for each in PAPER.datasets)


def test_every_cell_is_there_for_every_dataset_and_method():
    slugs = {each.slug for each in PAPER.datasets}
    for name, grid in grids().items():
        expected = {(slug, column.method) for slug in slugs for column in grid.columns}
        assert set(PAPER.cells[name]) == expected


def test_hyperparameters_are_there_for_every_dataset_a_method_can_do():
    everywhere = {each.slug for each in PAPER.datasets}
    small = {each.slug for each in PAPER.datasets if each.n_features <= 12}
    for method, values in PAPER.hyperparameters.items():
        assert set(values) == (small if method == "dndt" else everywhere)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"dataset_specs\.csv is missing.*git checkout"):
        load_paper(tmp_path)


def test_slugs_come_from_printed_names():
    assert dataset_slug("Wisconsin Breast Cancer") == "wisconsin-breast-cancer"
