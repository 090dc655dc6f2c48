"""The finding on random draws: what the published configuration gives with other seeds."""

from __future__ import annotations

from experiments.figures.seeds import Draws
from experiments.report.model import Section
from experiments.tables.model import Sheet, Statistic
from experiments.tables.ranking import mean_of

SEEDS_FIGURE = "other-draws"
INTRODUCTION = (
    "The published hyperparameters were chosen with the authors’ random draws, and this suite "
    "uses the same ones, number for number. With other seeds the same configuration gives other "
    "numbers: what it is expected to give is the mean over seeds, what a table prints is one draw."
)


def draws_of(sheet: Sheet | None) -> list[Draws]:
    """The rows of the sheet of seeds, which a book has once one ran, as points of the figure."""
    found = []
    for name, _, printed, drawn, others, _ in sheet.rows if sheet else ():
        if isinstance(others, Statistic) and others.value is not None:
            found.append(
                Draws(str(name), _number(printed), _number(drawn), others.value, others.spread or 0)
            )
    return found


def _number(entry: object) -> float | None:
    return float(entry) if isinstance(entry, int | float) else None


def seeds_section(sheet: Sheet | None) -> tuple[Section, ...]:
    """The section on other seeds; none before any of them ran."""
    draws = draws_of(sheet)
    if sheet is None or not draws:
        return ()
    return (
        Section(
            slug="draws",
            title="Other random draws",
            paragraphs=(INTRODUCTION,),
            points=tuple(_points(draws, seeds_per_dataset(sheet))),
            sheets=(sheet,),
            figures=(SEEDS_FIGURE,),
        ),
    )


def seeds_per_dataset(sheet: Sheet) -> str:
    """Such as ``10``, or ``2 to 10`` where not all datasets have as many yet."""
    counts = [entry for *_, entry in sheet.rows if isinstance(entry, int)]
    fewest, most = min(counts), max(counts)
    return f"{most}" if fewest == most else f"{fewest} to {most}"


def _points(draws: list[Draws], seeds: str) -> list[str]:
    whole = [one for one in draws if one.paper is not None and one.authors is not None]
    if not whole:
        return []
    printed = mean_of([one.paper or 0.0 for one in whole])
    authors = mean_of([one.authors or 0.0 for one in whole])
    others = mean_of([one.others for one in whole])
    spread = mean_of([one.spread for one in whole])
    below = sum(one.others < (one.paper or 0.0) for one in whole)
    widest = max(whole, key=lambda one: one.spread)
    return [
        f"Mean over {len(whole)} datasets: {printed:.3f} in the paper, {authors:.3f} here with "
        f"the authors’ draws, {others:.3f} with other seeds ({seeds} per dataset).",
        f"Other seeds fall below the printed number on {below} of {len(whole)} datasets.",
        f"Between seeds the mean over trials deviates by {spread:.3f} on average, most on "
        f"{widest.dataset} ({widest.spread:.3f}).",
    ]
