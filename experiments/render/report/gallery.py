"""Which figures there are, what data each gets from the tables, and the words beneath."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from experiments.analysis.findings import Findings
from experiments.analysis.model import TASK_NAMES, TASKS, Table, Task
from experiments.analysis.paper import method_name
from experiments.analysis.significance import Comparison, comparisons
from experiments.render import numbers
from experiments.render.clean import FIGURE as PROTOCOLS_FIGURE
from experiments.render.figures.changes import (
    Draws,
    ProtocolPair,
    clean_against_paper,
    other_draws,
    search_growth,
)
from experiments.render.figures.comparison import CellPair, critical_difference, ours_against_paper
from experiments.render.figures.cost import (
    RuntimePoint,
    SizePoint,
    f1_against_size,
    runtime_against_shape,
)
from experiments.render.figures.style import inline_svg
from experiments.render.figures.trees import (
    Curve,
    DrawnTree,
    training_curves,
    trees_one_above_another,
)
from experiments.render.report.comparisons import (
    DUELS_CAPTION,
    DUELS_FIGURE,
    QUIRKS_CAPTION,
    QUIRKS_FIGURE,
    duels_picture,
    quirks_picture,
)
from experiments.render.report.model import DatasetPage, FigureEntry, Plate
from experiments.render.report.sections import GROWTH_FIGURE, SEEDS_FIGURE, growth_curves

FIRST_FIGURE_DATASET = "echocardiogram"


def plates(
    ours: Mapping[str, Table],
    printed: Mapping[str, Table],
    clean: Mapping[str, Table],
    datasets: Sequence[DatasetPage],
    curves: Sequence[Curve] = (),
    draws: Sequence[Draws] = (),
) -> Iterator[Plate]:
    """Every figure of the suite, drawn from tables alone (and stored training histories)."""
    test = ours["test-f1-tuned"]
    yield from _first_figure(datasets, test)
    for task in TASKS:
        yield _comparison(test, printed["test-f1-tuned"], task)
    yield Plate(
        "f1-against-size",
        "Test F1 against tree size",
        "Tuned hyperparameters. Small marks are datasets; large marks are a method’s mean F1 and "
        "geometric mean size. Up and to the left is better.",
        f1_against_size(_size_points(test, ours["tree-size-tuned"])),
    )
    for comparison in comparisons(test):
        if comparison.scope in TASKS:
            yield _ranks(comparison, test)
    yield Plate(
        "runtime-against-shape",
        "Training time against the shape of the data",
        "One job at a time, one thread, no restarts. The lines are fitted power laws, as a guide "
        "to the eye.",
        runtime_against_shape(_runtime_points(ours["runtime"], datasets)),
    )
    if curves:
        yield Plate(
            "training-curves",
            "Training curves",
            "GradTree with tuned hyperparameters, first trial. Strong lines show the run chosen by "
            "its validation loss, faint lines the other restarts; the dot marks the epoch kept. "
            "Scales differ, because each dataset has its own published loss. The loss on Glass is "
            "negative, because the authors’ Poly-1 term on the multi-class focal loss subtracts a "
            "constant per class and has no gradient.",
            training_curves(curves),
        )
    if draws:
        yield Plate(
            SEEDS_FIGURE,
            "Other random draws",
            "Mean test F1 of tuned GradTree over ten trials: printed in the paper, measured here "
            "with the authors’ draws, and with other seeds.",
            other_draws(draws),
        )
    if "test-f1-default" in clean:
        yield Plate(
            PROTOCOLS_FIGURE,
            "What changes without the label leak",
            "Default hyperparameters, mean test F1 under protocol clean minus protocol paper; "
            "the dashed line is the mean over the datasets shown.",
            clean_against_paper(_changes(ours["test-f1-default"], clean["test-f1-default"])),
        )


def entry(plate: Plate) -> FigureEntry:
    """The plate as inline SVG for the page."""
    svg = inline_svg(plate.figure, plate.name, f"{plate.title}. {plate.caption}")
    return FigureEntry(plate.name, plate.title, plate.caption, svg, plate.on_white)


def _first_figure(datasets: Sequence[DatasetPage], scores: Table) -> Iterator[Plate]:
    stored = {
        tree["method"]: DrawnTree(f"{method_name(tree['method'])}, {_facts(tree)}", tree)
        for page in datasets
        if page.slug == FIRST_FIGURE_DATASET
        for tree in page.trees
        if tree["protocol"] == "paper"
    }
    drawn = [stored[method] for method in ("gradtree", "cart") if method in stored]
    if drawn:
        yield Plate(
            f"trees-{FIRST_FIGURE_DATASET}",
            "Trees on Echocardiogram, as in the paper’s Figure 1",
            "The upper levels of the trees of one trial, in the units of the raw data; dots mark "
            "where a tree continues. The dataset’s section shows the whole trees. "
            + _beside_the_first_figure(drawn, scores),
            trees_one_above_another(drawn),
            on_white=True,
        )


def _beside_the_first_figure(drawn: Sequence[DrawnTree], scores: Table) -> str:
    """Whose tree is better in the trial shown, and over all trials."""
    means = {
        method: scores.cell(FIRST_FIGURE_DATASET, method).mean for method in ("gradtree", "cart")
    }
    shown = {tree.entry["method"]: tree.entry["test_f1"] for tree in drawn}
    if len(shown) < 2 or None in means.values():
        return ""
    gradtree, cart = shown["gradtree"], shown["cart"]
    ahead = "as there" if gradtree > cart else "unlike there"
    return (
        f"In the paper’s figure GradTree is ahead of CART. In the trial shown here, {ahead}, "
        f"GradTree scores {gradtree:.3f} and CART {cart:.3f}. Over {scores.trials} trials the "
        f"means are {means['gradtree']:.3f} and {means['cart']:.3f}."
    )


def _facts(tree: Mapping[str, Any]) -> str:
    return f"{len(tree['tree']['feature'])} nodes, test F1 {tree['test_f1']:.3f}"


def _comparison(ours: Table, printed: Table, task: Task) -> Plate:
    pairs = [
        CellPair(row.name, column.method, column.name, cell.mean, cell.std, theirs.mean, theirs.std)
        for row, printed_row in zip(ours.block(task).rows, printed.block(task).rows, strict=True)
        for column, cell, theirs in zip(ours.columns, row.cells, printed_row.cells, strict=True)
    ]
    return Plate(
        f"ours-against-paper-{task}",
        f"Ours against the paper, {TASK_NAMES[task].lower()}",
        "Test F1 with tuned hyperparameters, mean ± standard deviation over trials. Filled marks "
        "are this suite’s, hollow marks the paper’s.",
        ours_against_paper(pairs),
    )


def _size_points(scores: Table, sizes: Table) -> list[SizePoint]:
    points = []
    for block in scores.blocks:
        for row in block.rows:
            for column, cell in zip(scores.columns, row.cells, strict=True):
                size = sizes.cell(row.dataset, column.method).mean
                if cell.mean is not None and size:
                    points.append(
                        SizePoint(column.method, column.name, block.task, row.name, size, cell.mean)
                    )
    return points


def _ranks(comparison: Comparison, table: Table) -> Plate:
    found = comparison.ranks
    note = (
        f"{comparison.title}: {found.n_datasets} datasets, Wilcoxon’s tests with Holm’s "
        f"correction at {found.level:g}"
    )
    return Plate(
        f"critical-difference-{comparison.scope}",
        f"Average ranks, {comparison.title.lower()}",
        "Average ranks of test F1 with tuned hyperparameters; 1 is best. Methods joined by a bar "
        "do not differ significantly (Wilcoxon’s test over datasets with Holm’s correction over "
        f"all pairs; Friedman {numbers.p_phrase(found.friedman.p_value)}). "
        "Methods without results on all of these datasets are left out.",
        critical_difference(
            dict(zip(found.methods, found.average_ranks, strict=True)),
            found.groups,
            names={column.method: column.name for column in table.columns},
            note=note,
        ),
    )


def _runtime_points(table: Table, datasets: Sequence[DatasetPage]) -> list[RuntimePoint]:
    shapes = {page.slug: (page.rows, page.features) for page in datasets}
    return [
        RuntimePoint(column.method, column.name, row.name, *shapes[row.dataset], cell.mean)
        for block in table.blocks
        for row in block.rows
        for column, cell in zip(table.columns, row.cells, strict=True)
        if cell.mean is not None and row.dataset in shapes
    ]


def _changes(paper: Table, clean: Table) -> list[ProtocolPair]:
    return [
        ProtocolPair(row.name, column.method, column.name, before.mean, after.mean)
        for block, clean_block in zip(paper.blocks, clean.blocks, strict=True)
        for row, clean_row in zip(block.rows, clean_block.rows, strict=True)
        for column, before, after in zip(paper.columns, row.cells, clean_row.cells, strict=True)
        if before.mean is not None and after.mean is not None
    ]


def finding_plates(found: Findings) -> Iterable[Plate]:
    """Of findings that have a section of their own."""
    if found.duels:
        yield Plate(
            DUELS_FIGURE,
            "GradTree against CART",
            DUELS_CAPTION,
            duels_picture(found.duels),
        )
    if found.quirks:
        yield Plate(
            QUIRKS_FIGURE,
            "What each quirk does",
            QUIRKS_CAPTION,
            quirks_picture(found.quirks),
        )
    curves = growth_curves(found)
    if any(curves.values()):
        yield Plate(
            GROWTH_FIGURE,
            "How many candidates a search needs",
            "Test F1 of the best of the first candidates minus test F1 of the winner of the whole "
            "search: median and quartiles over datasets (their number in brackets).",
            search_growth(curves),
        )
