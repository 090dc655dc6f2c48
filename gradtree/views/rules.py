"""A tree in words: a description of every node, and one rule per leaf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gradtree.trees.tree import LEAF, Tree
from gradtree.units.conditions import Condition, Split, numeric_split
from gradtree.units.numbers import distinct_text, number_text


class Units(Protocol):
    """Says what splits on columns of the training matrix mean."""

    def splits(
        self, features: NDArray[np.int32], thresholds: NDArray[np.float64]
    ) -> Sequence[Split]: ...


@dataclass(frozen=True)
class MatrixUnits:
    """Splits as the tree has them, in the numbers it was trained on."""

    feature_names: Sequence[str]
    digits: int = 4

    def splits(
        self, features: NDArray[np.int32], thresholds: NDArray[np.float64]
    ) -> Sequence[Split]:
        return [
            numeric_split(str(self.feature_names[f]), float(t), number_text(t, self.digits))
            for f, t in zip(features, thresholds, strict=True)
        ]


@dataclass(frozen=True)
class Rule:
    """The way to one leaf and what the leaf says.

    Attributes
    ----------
    conditions : tuple of Interval or Membership
        One per column on the way, joined where a column is tested repeatedly.
    leaf : int
        Node index in the tree.
    prediction : str
        Name of the predicted class.
    probability : float
        Probability that the leaf gives to it.
    n_samples : int or None
        Training rows that ended in the leaf, where known.
    """

    conditions: tuple[Condition, ...]
    leaf: int
    prediction: str
    probability: float
    n_samples: int | None

    def holds(self, table: Any) -> NDArray[np.bool_]:
        """Rows of a raw table (a mapping from column names to values) that the rule covers."""
        answers = [condition.holds(table[condition.column]) for condition in self.conditions]
        if not answers:
            return np.ones(len(table[next(iter(table))]), dtype=bool)
        return np.asarray(np.logical_and.reduce(answers))

    def __str__(self) -> str:
        way = " and ".join(str(condition) for condition in self.conditions)
        verdict = verdict_text(self.prediction, self.probability, self.n_samples)
        return f"if {way} then {verdict}" if way else f"always {verdict}"


def decision_rules(
    tree: Tree,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    units: Units | None = None,
    digits: int = 4,
) -> list[Rule]:
    """One rule per leaf, from left to right.

    Parameters
    ----------
    tree : Tree
    feature_names : sequence of str, optional
        Column names of the training matrix; ``x0, x1, …`` without them.
    class_names : sequence, optional
        Names in the order of the columns of ``tree.value``; ``0, 1, …`` without them.
    units : Units, optional
        Writes splits in original units, see :func:`gradtree.original_units`;
        takes the place of ``feature_names``.
    digits : int, default=4
        Significant digits of printed thresholds (without ``units``).
    """
    classes = checked_class_names(tree, class_names)
    splits = describe(tree, feature_names, units, digits)
    rules: list[Rule] = []
    waiting: list[tuple[int, dict[str, Condition]]] = [(0, {})]
    while waiting:
        node, way = waiting.pop()
        split = splits.get(node)
        if split is None:
            rules.append(_rule(tree, node, way, classes))
            continue
        waiting.append((int(tree.children_right[node]), _joined(way, split.right)))
        waiting.append((int(tree.children_left[node]), _joined(way, split.left)))
    return rules


def describe(
    tree: Tree,
    feature_names: Sequence[str] | None = None,
    units: Units | None = None,
    digits: int = 4,
) -> dict[int, Split]:
    """The meaning of every inner node, by node index."""
    if units is None:
        units = MatrixUnits(checked_feature_names(tree, feature_names), digits)
    inner = np.flatnonzero(tree.children_left != LEAF)
    splits = units.splits(tree.feature[inner], tree.threshold[inner])
    return _told_apart(tree, dict(zip(inner.tolist(), splits, strict=True)), digits)


def _told_apart(tree: Tree, splits: dict[int, Split], digits: int) -> dict[int, Split]:
    """Different borders of a column on one way down must not look the same."""
    told: dict[int, Split] = {}
    # Borders above a node: how each is printed, by column.
    above: dict[int, dict[str, dict[str, float]]] = {0: {}}
    for node, split in splits.items():
        seen = above.pop(node)
        border = split.border
        if border is not None:
            own = seen.get(split.column, {})
            if own.get(border[1], border[0]) != border[0]:
                split = split.printed(distinct_text(border[0], own, digits))
            text = split.border[1] if split.border else border[1]
            seen = {**seen, split.column: {**own, text: border[0]}}
        told[node] = split
        above[int(tree.children_left[node])] = above[int(tree.children_right[node])] = seen
    return told


def checked_feature_names(tree: Tree, names: Sequence[str] | None) -> Sequence[str]:
    if names is None:
        return [f"x{column}" for column in range(tree.n_features)]
    if len(names) != tree.n_features:
        raise ValueError(f"{len(names)} feature names for a tree over {tree.n_features} columns")
    return names


def checked_class_names(tree: Tree, names: Sequence[Any] | None) -> list[str]:
    if names is None:
        return [str(index) for index in range(tree.n_classes)]
    if len(names) != tree.n_classes:
        raise ValueError(f"{len(names)} class names for a tree with {tree.n_classes} classes")
    return [str(name) for name in names]


def node_verdict(tree: Tree, node: int, classes: Sequence[str]) -> str:
    """What a node predicts, how surely and from how many training rows."""
    best = int(tree.value[node].argmax())
    seen = None if tree.n_node_samples is None else int(tree.n_node_samples[node])
    return verdict_text(classes[best], float(tree.value[node, best]), seen)


def verdict_text(prediction: str, probability: float, n_samples: int | None) -> str:
    if n_samples is None:
        return f"{prediction} ({probability:.2f})"
    return f"{prediction} ({probability:.2f}, {n_samples} {'row' if n_samples == 1 else 'rows'})"


def _joined(way: dict[str, Condition], condition: Condition) -> dict[str, Condition]:
    known = way.get(condition.column)
    if known is None:
        return {**way, condition.column: condition}
    return {**way, condition.column: known & condition}  # type: ignore[operator]


def _rule(tree: Tree, leaf: int, way: dict[str, Condition], classes: Sequence[str]) -> Rule:
    best = int(tree.value[leaf].argmax())
    seen = None if tree.n_node_samples is None else int(tree.n_node_samples[leaf])
    return Rule(tuple(way.values()), leaf, classes[best], float(tree.value[leaf, best]), seen)
