"""The comparison on raw tables as gradtree/README.md shows it."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

from experiments.render.markdown import line

MEASURES = ("accuracy", "f1", "nodes", "cpu_seconds")
CART, NOW = "CART", "GradTree"
BY_HAND, ALONE = "GradTree, scaled by hand", "GradTree, scaled by hand alone"
ALLOWED = 0.02
"""So much below its score on scaled numbers GradTree may be."""

Mean = dict[str, float]
Means = dict[tuple[str, str], Mean]


def comparison(path: Path) -> str:
    """A table of scores, one of sizes and seconds, and what they say."""
    with path.open(newline="") as file:
        means = _means(list(csv.DictReader(file)))
    return "\n\n".join(
        [
            _table(means, "accuracy / macro F1", _quality),
            _verdict(means),
            _table(means, "nodes / CPU seconds", _cost),
        ]
    )


def _means(rows: list[dict[str, str]]) -> Means:
    """Means over the folds, by (table, learner), and over the tables, whose name is ``mean``."""
    folds: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        folds[row["table"], row["learner"]].append(row)
    means = {
        key: {name: fmean(float(row[name]) for row in some) for name in MEASURES}
        for key, some in folds.items()
    }
    for learner in dict.fromkeys(learner for _, learner in means):
        mine = [one for (_, other), one in means.items() if other == learner]
        means["mean", learner] = {name: fmean(one[name] for one in mine) for name in MEASURES}
    return means


def _quality(one: Mean) -> str:
    return " / ".join(f"{one[name]:.3f}".removeprefix("0") for name in ("accuracy", "f1"))


def _cost(one: Mean) -> str:
    return f"{one['nodes']:.0f} / {one['cpu_seconds']:.2f}"


def _table(means: Means, title: str, cell: Callable[[Mean], str]) -> str:
    learners = list(dict.fromkeys(learner for _, learner in means))
    lines = [line([title, *learners]), "|---|" + "---:|" * len(learners)]
    for table in dict.fromkeys(table for table, _ in means):
        lines.append(line([table, *(cell(means[table, learner]) for learner in learners)]))
    return "\n".join(lines)


def _verdict(means: Means) -> str:
    """Whether scaling inside costs anything, and how the means compare with CART's."""
    parts = []
    for name, spoken in (("accuracy", "accuracy"), ("f1", "macro F1")):
        ahead = means["mean", NOW][name] - means["mean", CART][name]
        parts.append(
            f"GradTree’s mean {spoken} differs from CART’s by {ahead:+.3f}. "
            f"{_loss(means, name, BY_HAND, 'with numbers standardised by hand')}; "
            f"{_loss(means, name, ALONE, 'with no other scaling than that')}."
        )
    return " ".join(parts)


def _loss(means: Means, name: str, other: str, where: str) -> str:
    """Such as ``on a is it more than 0.02 below its score where … (largest loss 0.031)``."""
    tables = [table for table in dict.fromkeys(table for table, _ in means) if table != "mean"]
    losses = {table: means[table, other][name] - means[table, NOW][name] for table in tables}
    over = [table for table in tables if losses[table] > ALLOWED]
    found = f"{', '.join(over)}" if over else "none"
    return (
        f"Tables where it is more than {ALLOWED:.2f} below its score {where}: {found} "
        f"(largest loss {max(losses.values()):.3f})"
    )
