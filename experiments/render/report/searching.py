"""The section on our own search: every learner tuned by the same rule."""

from __future__ import annotations

from experiments.analysis.findings import Findings
from experiments.analysis.model import Sheet
from experiments.analysis.paper import method_name
from experiments.analysis.ranking import mean_of
from experiments.analysis.settings import Growth, growth, searched_scores
from experiments.render import numbers
from experiments.render.report.model import Section

GROWTH_FIGURE = "search-growth"
SHEETS = ("searched", "search-optimism", "search-budget")
INTRODUCTION = (
    "The published hyperparameters of CART and GeneticTree won a cross-validation that sees the "
    "label leak, and those of GradTree won an unpublished estimate. Here every learner gets the "
    "same rule: 300 random candidates, three stratified folds, macro F1, on the first split. "
    "Under protocol paper the folds are cut from encoded and rebalanced rows, as the authors did; "
    "under clean all preprocessing happens inside the folds. DL8.5 has nothing to search.",
    "The score that makes a candidate win is optimistic where copies of a row and its leaking "
    "code fall on both sides of a fold: compare it with the test score.",
)


def growth_curves(found: Findings) -> dict[str, list[Growth]]:
    """Per protocol, how the test score grows with the number of candidates."""
    return {protocol: growth(found.results, found.paper, protocol) for protocol in found.books}


def search_section(found: Findings) -> tuple[Section, ...]:
    """What our search found; none before a search and its test scores are there."""
    sheets: list[Sheet] = [
        book.sheets[name] for book in found.books.values() for name in SHEETS if name in book.sheets
    ]
    if not sheets:
        return ()
    curves = growth_curves(found)
    return (
        Section(
            slug="search",
            title="Tuned alike",
            paragraphs=INTRODUCTION,
            points=tuple(search_points(found)),
            sheets=tuple(sheets),
            figures=(GROWTH_FIGURE,) if any(curves.values()) else (),
        ),
    )


def search_points(found: Findings) -> list[str]:
    """Per protocol: the mean test F1 of each learner with published hyperparameters and ours."""
    points = []
    for protocol in found.books:
        pairs: dict[str, list[tuple[float, float]]] = {}
        for _, method, published, ours in searched_scores(found.results, found.paper, protocol):
            if published.mean is not None and ours.mean is not None:
                pairs.setdefault(method, []).append((published.mean, ours.mean))
        parts = [
            f"{method_name(method)} {numbers.fixed(mean_of([one for one, _ in scores]), 3)} with "
            f"the published hyperparameters and "
            f"{numbers.fixed(mean_of([two for _, two in scores]), 3)} with ours ({len(scores)})"
            for method, scores in pairs.items()
        ]
        if parts:
            points.append(
                f"Protocol {protocol}, mean test F1 (datasets searched): {'; '.join(parts)}."
            )
    return points
