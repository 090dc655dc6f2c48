"""What the paper prints of its datasets, and which of its figures contradict its own cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from experiments.analysis.definitions import grids, method_name
from experiments.analysis.model import TASK_NAMES, Entry, Sheet, SheetColumn
from experiments.analysis.paper import Paper, PrintedDataset


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
    notes = (f"Loaded otherwise than printed: {', '.join(differing)}.",) if differing else ()
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
        caption="Printed figures that the paper's own printed cells contradict",
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
