"""DL8.5 twice: by our kernels, and by the library pydl8.5."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from experiments.records.record import RunRecord
from experiments.tables.cells import Results
from experiments.tables.model import TASK_NAMES, TASKS, Cell, Entry, Sheet, SheetColumn
from experiments.verdicts.paper import Paper

EXPERIMENT = "solvers"
OURS, LIBRARY = "dl85", "dl85-original"
OUTCOME = ("train_f1", "valid_f1", "test_f1", "test_log_loss", "tree_size", "depth", "leaves")
"""What must be equal to the last digit for two fits to count as alike."""


@dataclass(frozen=True)
class Pair:
    """One trial that both finished."""

    ours: RunRecord
    library: RunRecord

    @property
    def same(self) -> bool:
        return all(getattr(self.ours, name) == getattr(self.library, name) for name in OUTCOME)

    @property
    def same_machine(self) -> bool:
        """Only then may their seconds be divided."""
        return self.ours.environment == self.library.environment


def library_cells(results: Results, paper: Paper, protocol: str) -> dict[str, Cell]:
    """Test F1 of DL8.5 by the library, by dataset."""
    return {
        dataset.slug: results.cell(protocol, EXPERIMENT, dataset.slug, LIBRARY, "test_f1")
        for dataset in paper.datasets
    }


def pairs_of(results: Results, protocol: str, dataset: str) -> list[Pair]:
    ours, library = (_finished(results, protocol, dataset, method) for method in (OURS, LIBRARY))
    return [Pair(ours[trial], library[trial]) for trial in sorted(ours.keys() & library.keys())]


def _finished(
    results: Results, protocol: str, dataset: str, method: str
) -> Mapping[int, RunRecord]:
    attempts = results.attempts.get((protocol, EXPERIMENT, dataset, method), ())
    return {
        attempt.trial: attempt.record
        for attempt in attempts
        if attempt.record is not None and attempt.record.status == "ok"
    }


def solvers_sheet(results: Results, paper: Paper, protocol: str) -> Sheet:
    """Where the library has run: how many trials ended alike, and how long they took."""
    cells = library_cells(results, paper, protocol)
    rows: list[tuple[Entry, ...]] = []
    for task in TASKS:
        for dataset in paper.of_task(task):
            pairs = pairs_of(results, protocol, dataset.slug)
            score = results.cell(protocol, EXPERIMENT, dataset.slug, OURS, "test_f1").mean
            row: list[Entry] = [dataset.name, TASK_NAMES[task], score]
            if pairs:
                ours, library = seconds_of(pairs)
                same = sum(pair.same for pair in pairs)
                comparable = bool(ours) and all(pair.same_machine for pair in pairs)
                ratio = library / ours if comparable else None
                rows.append((*row, len(pairs), same, ours, library, ratio))
            elif cells[dataset.slug].missing:
                rows.append((*row, 0, None, None, cells[dataset.slug].missing, None))
    return Sheet(
        name=EXPERIMENT,
        title="DL8.5 by our kernels and by pydl8.5",
        caption="Test F1 of ours, trials that both finished, those with the same scores and the "
        "same tree size to the last digit, and seconds of the processor for all of them; their "
        "ratio where both ran on the same machine",
        source=protocol,
        columns=(
            SheetColumn("Dataset"),
            SheetColumn("Task"),
            SheetColumn("test F1"),
            SheetColumn("trials", 0),
            SheetColumn("same", 0),
            SheetColumn("ours", 2, group="Seconds"),
            SheetColumn("pydl8.5", 2, group="Seconds"),
            SheetColumn("ratio", 1),
        ),
        rows=tuple(rows),
    )


def seconds_of(pairs: list[Pair]) -> tuple[float, float]:
    """Of the processor, for all of these fits: ours, and the library's."""
    return (
        sum(pair.ours.cpu_seconds or 0.0 for pair in pairs),
        sum(pair.library.cpu_seconds or 0.0 for pair in pairs),
    )
