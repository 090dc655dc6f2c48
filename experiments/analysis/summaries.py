"""The paper's small tables: Tables 3 and 4, the penalty, its datasets, and its contradictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from experiments.analysis import ranking
from experiments.analysis.grids import Results, mean_statistic
from experiments.analysis.model import (
    TASK_NAMES,
    TASKS,
    Cell,
    Entry,
    Measure,
    Setting,
    Sheet,
    SheetColumn,
    Statistic,
    Table,
    Task,
)
from experiments.analysis.paper import Paper, PrintedDataset, grids, method_name

Tables = Mapping[str, Table]
Penalty = Mapping[tuple[Task, str, str], Statistic]
"""(task, ``f1`` or ``tree_size``, ``penalty`` or ``no_penalty``) -> mean over datasets"""

SETTINGS: tuple[Setting, ...] = ("default", "tuned")
PENALTY_MEASURES: dict[str, Measure] = {"f1": "test_f1", "tree_size": "tree_size"}


def train_test_gap(tables: Tables, task: Task, method: str) -> Statistic:
    """Mean over datasets of train F1 minus test F1, tuned."""
    train, test = tables["train-f1-tuned"], tables["test-f1-tuned"]
    gaps = []
    for row in test.block(task).rows:
        fitted = train.cell(row.dataset, method).mean
        held_out = row.cells[test.column(method)].mean
        if fitted is not None and held_out is not None:
            gaps.append(fitted - held_out)
    if not gaps:
        return Statistic()
    return Statistic(ranking.mean_of(gaps), ranking.sample_std(gaps), len(gaps))


def summary_sheet(tables: Tables) -> Sheet:
    """Table 3: tree size, train-test difference and MRR with default hyperparameters."""
    size, default = tables["tree-size-tuned"], tables["test-f1-default"]
    rows: list[tuple[Entry, ...]] = []
    for at, column in enumerate(size.columns):
        method = column.method
        entries: list[Entry] = [column.name]
        entries += [mean_statistic(size, task, method).value for task in TASKS]
        entries += [train_test_gap(tables, task, method).value for task in TASKS]
        entries += [default.block(task).summary("MRR").statistics[at].value for task in TASKS]
        rows.append(tuple(entries))
    columns = [SheetColumn("Method")]
    for group, decimals, best in (
        ("Tree size", 0, "min"),
        ("Train-test difference", 3, "min"),
        ("Default MRR", 3, "max"),
    ):
        columns += [
            SheetColumn(TASK_NAMES[task], decimals, "min" if best == "min" else "max", group)
            for task in TASKS
        ]
    return Sheet(
        name="summary",
        title="Summary",
        caption="Mean tree size and mean difference between train and test F1 with tuned "
        "hyperparameters, and MRR with default hyperparameters",
        source=size.source,
        columns=tuple(columns),
        rows=tuple(rows),
    )


def ablation_sheet(tables: Tables) -> Sheet:
    """Table 4: mean test F1 of the three feature selectors."""
    names = {
        column.method: column.name
        for setting in SETTINGS
        for column in tables[f"ablation-{setting}"].columns
    }
    rows: list[tuple[Entry, ...]] = []
    for setting in SETTINGS:
        table = tables[f"ablation-{setting}"]
        for task in TASKS:
            means = {
                column.method: mean.value
                for column, mean in zip(
                    table.columns, table.block(task).summary("Mean").statistics, strict=True
                )
            }
            label = f"{setting.capitalize()}, {TASK_NAMES[task].lower()}"
            rows.append((label, *(means.get(method) for method in names)))
    return Sheet(
        name="ablation-summary",
        title="Ablation summary",
        caption="Mean test F1 of three ways to select the feature of a split",
        source=table.source,
        columns=(SheetColumn("Setting"), *(SheetColumn(name) for name in names.values())),
        rows=tuple(rows),
        best_in_row="max",
    )


def our_penalty(results: Results, paper: Paper, protocol: str) -> Penalty:
    """Mean F1 and tree size of GeneticTree with and without its complexity penalty."""
    variants = {
        "penalty": ("tuned", "genetictree"),
        "no_penalty": ("no-penalty", "genetictree-no-penalty"),
    }
    means: dict[tuple[Task, str, str], Statistic] = {}
    for task in TASKS:
        for name, measure in PENALTY_MEASURES.items():
            for variant, (experiment, method) in variants.items():
                cells: list[tuple[Cell]] = [
                    (results.cell(protocol, experiment, dataset.slug, method, measure),)
                    for dataset in paper.of_task(task)
                ]
                means[task, name, variant] = ranking.mean_over_datasets(cells)[0]
    return means


def paper_penalty(paper: Paper) -> Penalty:
    return {
        key: Statistic(value, n=len(paper.of_task(key[0]))) for key, value in paper.penalty.items()
    }


def penalty_sheet(penalty: Penalty, source: str) -> Sheet:
    """GeneticTree with and without its complexity penalty, means over datasets."""
    name = method_name("genetictree")
    rows = tuple(
        (
            TASK_NAMES[task],
            *(
                penalty[task, measure, variant].value
                for measure in PENALTY_MEASURES
                for variant in ("penalty", "no_penalty")
            ),
        )
        for task in TASKS
    )
    columns = [SheetColumn("Task")]
    for group, decimals in (("Test F1", 3), ("Tree size", 0)):
        columns += [
            SheetColumn("with penalty", decimals, group=group),
            SheetColumn("without", decimals, group=group),
        ]
    return Sheet(
        name="genetictree-penalty",
        title=f"{name} without complexity penalty",
        caption=f"{name} with and without its complexity penalty, means over datasets",
        source=source,
        columns=tuple(columns),
        rows=rows,
    )


class Spec(Protocol):
    """The part of a registry record that the tables use."""

    @property
    def n_features(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def class_counts(self) -> Sequence[int]: ...
    @property
    def categorical(self) -> Sequence[str]: ...


def specs_sheet(paper: Paper, registry: Mapping[str, Spec]) -> Sheet:
    """One row per dataset; datasets that differ from their printed line are named in a note."""
    rows: list[tuple[Entry, ...]] = []
    differing = []
    for printed in paper.datasets:
        loaded = registry.get(printed.slug)
        rows.append((*_printed(printed), *_loaded(loaded)))
        if loaded is not None and not _agree(printed, loaded):
            differing.append(printed.name)
    notes = (f"Not loaded as printed: {', '.join(differing)}.",) if differing else ()
    return Sheet(
        name="datasets",
        title="Datasets",
        caption="The datasets as printed in the paper and as loaded; classes in label order",
        source="paper, as printed, and the dataset records",
        columns=(
            SheetColumn("Dataset"),
            SheetColumn("Task"),
            *(
                SheetColumn(name, 0, group=group)
                for group in ("Printed", "Loaded")
                for name in ("features", "rows", "rows by class")
            ),
        ),
        rows=tuple(rows),
        notes=notes,
    )


def _printed(dataset: PrintedDataset) -> tuple[Entry, ...]:
    counts = "/".join(map(str, dataset.class_counts))
    return (dataset.name, TASK_NAMES[dataset.task], dataset.n_features, dataset.n_samples, counts)


def _loaded(spec: Spec | None) -> tuple[Entry, ...]:
    if spec is None:
        return (None, None, None)
    return (spec.n_features, spec.n_rows, "/".join(map(str, spec.class_counts)))


def _agree(printed: PrintedDataset, loaded: Spec) -> bool:
    """The order of two classes is not part of the agreement: the paper mixes conventions."""
    return (
        printed.n_features == loaded.n_features
        and printed.n_samples == loaded.n_rows
        and sorted(printed.class_counts) == sorted(loaded.class_counts)
    )


def inconsistencies_sheet(paper: Paper) -> Sheet:
    names = {dataset.slug: dataset.name for dataset in paper.datasets}
    return Sheet(
        name="paper-inconsistencies",
        title="Inconsistencies of the paper",
        caption="Printed numbers that contradict the paper's own printed cells",
        source="paper, as printed",
        columns=tuple(
            SheetColumn(name)
            for name in (
                *("Table", "Task", "Line", "Method", "Figure"),
                *("printed", "from the cells", "why"),
            )
        ),
        rows=tuple(
            (
                grids()[known.table].title,
                TASK_NAMES[known.task],
                known.statistic or names[known.dataset],
                method_name(known.method),
                known.field,
                known.printed,
                known.recomputed,
                known.reason,
            )
            for known in paper.inconsistencies
        ),
    )
