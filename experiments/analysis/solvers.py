"""DL8.5's optimal tree by several solvers: whether they agree, and how long each takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from experiments.analysis.grids import Results
from experiments.analysis.model import TASK_NAMES, TASKS, Cell, Entry, Sheet, SheetColumn
from experiments.analysis.paper import Paper, method_name
from experiments.core.record import RunRecord

EXPERIMENT = "solvers"
OURS, LIBRARY = "dl85", "dl85-original"
OUTCOME = ("train_f1", "valid_f1", "test_f1", "test_log_loss", "tree_size", "depth", "leaves")
"""What must be equal to the last digit for two fits to count as alike."""


@dataclass(frozen=True)
class TrialPair:
    """One trial that both finished."""

    ours: RunRecord
    library: RunRecord

    @property
    def same(self) -> bool:
        return all(getattr(self.ours, name) == getattr(self.library, name) for name in OUTCOME)

    @property
    def same_kind(self) -> bool:
        """Whether the machines and libraries are described alike: else no seconds are divided."""
        return self.ours.environment == self.library.environment


def library_cells(results: Results, paper: Paper, protocol: str) -> dict[str, Cell]:
    """Test F1 of DL8.5 by the library, by dataset."""
    return {
        dataset.slug: results.cell(protocol, EXPERIMENT, dataset.slug, LIBRARY, "test_f1")
        for dataset in paper.datasets
    }


def pairs_of(results: Results, protocol: str, dataset: str) -> list[TrialPair]:
    ours, library = (
        _finished(results, protocol, EXPERIMENT, dataset, method) for method in (OURS, LIBRARY)
    )
    return [
        TrialPair(ours[trial], library[trial]) for trial in sorted(ours.keys() & library.keys())
    ]


def _finished(
    results: Results, protocol: str, experiment: str, dataset: str, method: str
) -> Mapping[int, RunRecord]:
    attempts = results.attempts.get((protocol, experiment, dataset, method), ())
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
                comparable = bool(ours) and all(pair.same_kind for pair in pairs)
                ratio = library / ours if comparable else None
                rows.append((*row, len(pairs), same, ours, library, ratio))
            elif cells[dataset.slug].missing:
                rows.append((*row, 0, None, None, cells[dataset.slug].missing, None))
    columns: tuple[SheetColumn, ...] = (
        SheetColumn("Dataset"),
        SheetColumn("Task"),
        SheetColumn("test F1"),
        SheetColumn("trials", 0),
        SheetColumn("same", 0),
        SheetColumn("ours", 2, group="Seconds"),
        SheetColumn("pydl8.5", 2, group="Seconds"),
        SheetColumn("ratio", 1),
    )
    told = "; their ratio where both ran on machines of one kind"
    if not any(row[-1] is not None for row in rows):  # no ratio, no column for it
        columns, rows = columns[:-1], [row[:-1] for row in rows]
        told = ", which ran on machines of different kinds"
    return Sheet(
        name=EXPERIMENT,
        title="DL8.5 by our kernels and by pydl8.5",
        caption="Test F1 of our kernels; trials that both finished, and those with the same scores "
        f"and tree size to the last digit; processor seconds over all of them{told}",
        source=protocol,
        columns=columns,
        rows=tuple(rows),
    )


def seconds_of(pairs: list[TrialPair]) -> tuple[float, float]:
    """Of the processor, for all of these fits: ours, and the library's."""
    return (
        sum(pair.ours.cpu_seconds or 0.0 for pair in pairs),
        sum(pair.library.cpu_seconds or 0.0 for pair in pairs),
    )


ALONE = "solvers-alone"
SOLVERS = (OURS, LIBRARY, "dl85-pytrees", "dl85-streed")


@dataclass(frozen=True)
class Times:
    """One dataset by solvers that ran one at a time, over the trials that all of them finished.

    Attributes
    ----------
    errors, seconds : by solver; training rows misclassified, and CPU seconds.
    """

    errors: Mapping[str, int]
    seconds: Mapping[str, float]

    @property
    def alike(self) -> bool:
        return len(set(self.errors.values())) == 1

    def ratio(self, method: str) -> float | None:
        """Of a solver's seconds to ours."""
        return self.seconds[method] / self.seconds[OURS] if method in self.seconds else None


def times_of(results: Results, protocol: str, dataset: str) -> Times | None:
    """What solvers took; ``None`` where ours has not finished."""
    found = {method: _finished(results, protocol, ALONE, dataset, method) for method in SOLVERS}
    finished = {method: own for method, own in found.items() if own}
    if OURS not in finished:
        return None
    shared = set.intersection(*map(set, finished.values()))
    errors = {m: sum(own[t].extra["errors"] for t in shared) for m, own in finished.items()}
    seconds = {m: sum(own[t].cpu_seconds or 0.0 for t in shared) for m, own in finished.items()}
    return Times(errors, seconds)


def solver_times_sheet(results: Results, paper: Paper, protocol: str) -> Sheet:
    """Where jobs ran one at a time: training errors and CPU seconds of each solver."""
    rows: list[tuple[Entry, ...]] = []
    for task in TASKS:
        for dataset in paper.of_task(task):
            times = times_of(results, protocol, dataset.slug)
            if times is not None:
                entries = _entries(times, results, protocol, dataset.slug)
                rows.append((dataset.name, TASK_NAMES[task], *entries))
    return Sheet(
        name=ALONE,
        title="The optimal tree of depth 4 over yes/no columns by four solvers",
        caption="Training rows that the tree misclassifies, whether all solvers that finished "
        "agree on their number, CPU seconds of one fit with no other job running, and these "
        "divided by ours",
        source=protocol,
        columns=(
            SheetColumn("Dataset"),
            SheetColumn("Task"),
            SheetColumn("errors", 0),
            SheetColumn("alike"),
            *(SheetColumn(method_name(method), 2, group="CPU seconds") for method in SOLVERS),
            *(SheetColumn(method_name(method), 1, group="Ratio") for method in SOLVERS[1:]),
        ),
        rows=tuple(rows),
    )


def _entries(times: Times, results: Results, protocol: str, dataset: str) -> tuple[Entry, ...]:
    """Errors, whether all agree, seconds and ratios; for who did not finish, why."""
    return (
        times.errors[OURS],
        "yes" if times.alike else "no",
        *(
            times.seconds[method]
            if method in times.seconds
            else results.cell(protocol, ALONE, dataset, method, "test_f1").missing or None
            for method in SOLVERS
        ),
        *(times.ratio(method) for method in SOLVERS[1:]),
    )


def times_sentence(results: Results, paper: Paper, protocol: str = "clean") -> str | None:
    """Who agrees with ours and how much longer each takes; ``None`` where nobody else ran."""
    found = [times_of(results, protocol, dataset.slug) for dataset in paper.datasets]
    times = [each for each in found if each is not None and len(each.seconds) > 1]
    parts = []
    for method in SOLVERS[1:]:
        ratios = sorted(ratio for each in times if (ratio := each.ratio(method)) is not None)
        if ratios:
            parts.append(
                f"{method_name(method)} {median(ratios):.1f} [{ratios[0]:.1f}, {ratios[-1]:.1f}] "
                f"on {len(ratios)}"
            )
    if not parts:
        return None
    return (
        f"The optimal tree of depth 4, one solver at a time on one machine: all who finished agree "
        f"on its errors on {sum(each.alike for each in times)} of {len(times)} datasets. CPU "
        f"seconds divided by ours, median [least, most] over the datasets that a solver finished: "
        f"{', '.join(parts)}."
    )
