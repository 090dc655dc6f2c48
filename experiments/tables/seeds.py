"""What the published configurations give with other random draws than the authors'."""

from __future__ import annotations

from experiments.tables import ranking
from experiments.tables.cells import Attempt, Results
from experiments.tables.model import TASK_NAMES, TASKS, Entry, Sheet, SheetColumn, Statistic
from experiments.verdicts.paper import Paper

METHOD = "gradtree"


def seeds_sheet(results: Results, paper: Paper, protocol: str) -> Sheet:
    """Tuned GradTree on each dataset run with other seeds: printed, authors' draws, other seeds.

    The spread beside the other seeds is the deviation between the means of single seeds,
    each a mean over trials: how far a table cell moves with the draws alone.
    """
    rows: list[tuple[Entry, ...]] = []
    for task in TASKS:
        for dataset in paper.of_task(task):
            printed = paper.cells["test-f1-tuned"][dataset.slug, METHOD].mean
            drawn = results.cell(protocol, "tuned", dataset.slug, METHOD, "test_f1").mean
            address = (protocol, "seeds", dataset.slug, METHOD)
            others = between_seeds(results.attempts.get(address, ()))
            if others.n:
                rows.append((dataset.name, TASK_NAMES[task], printed, drawn, others, others.n))
    return Sheet(
        name="seeds",
        title="Other random draws",
        caption="Test F1 of tuned GradTree: printed, with the authors' random draws, and with "
        "other seeds (mean and deviation between seeds of the mean over trials)",
        source=protocol,
        columns=(
            SheetColumn("Dataset"),
            SheetColumn("Task"),
            SheetColumn("paper"),
            SheetColumn("authors' draws"),
            SheetColumn("other seeds"),
            SheetColumn("seeds", 0),
        ),
        rows=tuple(rows),
    )


def between_seeds(attempts: tuple[Attempt, ...]) -> Statistic:
    """Mean and sample deviation of the mean test F1 over trials, over the seeds with all trials."""
    by_seed: dict[int, list[float | None]] = {}
    for attempt in attempts:
        score = None if attempt.record is None else attempt.record.test_f1
        by_seed.setdefault(attempt.seed, []).append(score)
    complete = [
        [score for score in scores if score is not None]
        for _, scores in sorted(by_seed.items())
        if None not in scores
    ]
    means = [ranking.mean_of(scores) for scores in complete]
    if not means:
        return Statistic()
    return Statistic(ranking.mean_of(means), ranking.sample_std(means), len(means))
