"""A tree in words: a description of every node, and one rule per leaf."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradtree.columns.coding import Column
from gradtree.trees.regression_tree import RegressionTree
from gradtree.trees.traversal import missing_goes_left
from gradtree.trees.tree import LEAF, Tree
from gradtree.typing import Flags, Names
from gradtree.units.conditions import Condition, Split, alone, category_split, joined, number_split
from gradtree.units.cuts import DIGITS, cut_text, number_text


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
        Name of the predicted class, or the predicted numbers.
    probability : float or None
        Its share of the training rows of the leaf; where these are not known by class, the
        probability that the leaf gives to it. None for numbers.
    n_samples : int or None
        Training rows that ended in the leaf, where known.
    n_predicted : int or None
        Those of them that are of the predicted class, where known.
    numbers : tuple of float or None
        The predicted numbers of a regression tree, in full.
    """

    conditions: tuple[Condition, ...]
    leaf: int
    prediction: str
    probability: float | None
    n_samples: int | None
    n_predicted: int | None = None
    numbers: tuple[float, ...] | None = None

    def holds(self, table: Any) -> Flags:
        """Rows of a raw table (a mapping from column names to values) that the rule covers."""
        answers = [condition.holds(table[condition.column]) for condition in self.conditions]
        if not answers:
            return np.ones(len(table[next(iter(table))]), dtype=bool)
        return np.asarray(np.logical_and.reduce(answers))

    def __str__(self) -> str:
        told = [str(condition) for condition in self.conditions]
        way = " and ".join(f"({one})" if one.endswith(" or missing") else one for one in told)
        facts = self.probability, self.n_predicted, self.n_samples
        verdict = verdict_text(self.prediction, *facts)
        return f"if {way} then {verdict}" if way else f"always {verdict}"


def decision_rules(
    tree: Tree, *, feature_names: Names = None, class_names: Names = None
) -> list[Rule]:
    """One rule per leaf, from left to right.

    Parameters
    ----------
    tree : Tree
    feature_names : sequence of str, optional
        Names of the columns; without them those of the table that the tree was grown on, or
        ``x0, x1, …``.
    class_names : sequence, optional
        Names in the order of the columns of ``tree.value``; ``0, 1, …`` without them.

    Predicted numbers, and thresholds of a tree over a plain matrix, have four significant digits. A
    tree over a table has thresholds that are short themselves, and prints them in full.
    """
    classes = checked_class_names(tree, class_names)
    splits = describe(tree, feature_names)
    rules: list[Rule] = []
    waiting: list[tuple[int, dict[str, Condition]]] = [(0, {})]
    while waiting:
        node, way = waiting.pop()
        split = splits.get(node)
        if split is None:
            _, share, count, n_rows = node_facts(tree, node)
            conditions = tuple(alone(condition) for condition in way.values())
            told = predicted_text(tree, node, classes)
            numbers = tuple(tree.value[node].tolist()) if isinstance(tree, RegressionTree) else None
            rules.append(Rule(conditions, node, told, share, n_rows, count, numbers))
            continue
        for child, side in reversed(branches(tree, node, split)):
            condition = joined(way.get(split.column), side)
            waiting.append((child, {**way, split.column: condition}))
    return rules


def describe(tree: Tree, feature_names: Names = None) -> dict[int, Split]:
    """The meaning of every inner node, by node index.

    Categories are told apart only as far as they can still come, given the splits above.
    """
    columns = described_columns(tree, feature_names)
    missing = missing_goes_left(tree)
    told: dict[int, Split] = {}
    # What is known above a node: the condition on each column, and how borders are printed.
    above: dict[int, dict[str, Condition]] = {0: {}}
    texts: dict[int, dict[str, dict[str, float]]] = {0: {}}
    for node in np.flatnonzero(tree.children_left != LEAF).tolist():
        way, seen = above.pop(node), texts.pop(node)
        column = columns[tree.feature[node]]
        known = way.get(column.name)
        if tree.members is not None and column.kind == "category":
            split = category_split(column, tree.members[node], bool(missing[node]))
        else:
            border = float(tree.threshold[node])
            own = seen.get(column.name, {})
            text = _border_text(tree, column, border, own)
            seen = {**seen, column.name: {**own, text: border}}
            split = number_split(column, border, text, bool(missing[node]))
            if known is not None and not known.missing:
                # What was sent elsewhere above needs no mention here.
                split = Split(*(replace(s, missing=False) for s in (split.left, split.right)))
        inside = Split(joined(known, split.left), joined(known, split.right))
        told[node] = inside if column.kind == "category" else split
        for child, side in branches(tree, node, inside):
            above[child], texts[child] = {**way, column.name: side}, seen
    return told


def branches(tree: Tree, node: int, split: Split) -> list[tuple[int, Condition]]:
    """The children of a node, the left one first, and the conditions that lead to them."""
    return [
        (int(tree.children_left[node]), split.left),
        (int(tree.children_right[node]), split.right),
    ]


def described_columns(tree: Tree, feature_names: Names) -> list[Column]:
    """The columns of a tree, under other names if there are any."""
    columns = tree.columns or [Column(f"x{place}") for place in range(tree.n_features)]
    names = [column.name for column in columns] if feature_names is None else feature_names
    if len(names) != tree.n_features:
        raise ValueError(f"{len(names)} feature names for a tree over {tree.n_features} columns")
    return [replace(c, name=str(name)) for c, name in zip(columns, names, strict=True)]


def _border_text(tree: Tree, column: Column, border: float, taken: dict[str, float]) -> str:
    """A border, printed differently from the other borders above."""
    if tree.columns is not None:
        return cut_text(border, column.kind) if np.isfinite(border) else str(border)
    texts = (number_text(border, digits) for digits in range(DIGITS, 18))
    free = (text for text in texts if taken.get(text, border) == border)
    return next(free, repr(border))


def checked_class_names(tree: Tree, names: Names) -> list[str]:
    if isinstance(tree, RegressionTree):
        return []
    if names is None:
        return [str(index) for index in range(tree.n_classes)]
    if len(names) != tree.n_classes:
        raise ValueError(f"{len(names)} class names for a tree with {tree.n_classes} classes")
    return [str(name) for name in names]


def node_verdict(tree: Tree, node: int, classes: Sequence[str]) -> str:
    """What a node predicts, and the share and number of the training rows that are so."""
    _, share, count, n_rows = node_facts(tree, node)
    return verdict_text(predicted_text(tree, node, classes), share, count, n_rows)


def predicted_text(tree: Tree, node: int, classes: Sequence[str]) -> str:
    """The class, or the numbers, that a node predicts."""
    if isinstance(tree, RegressionTree):
        return ", ".join(number_text(number) for number in tree.value[node])
    return classes[tree.labels[node]]


def node_facts(tree: Tree, node: int) -> tuple[int, float | None, int | None, int | None]:
    """The class that a node predicts, its share, its rows and all rows of the node.

    The share is that of the rows, as they are. Where rows are not known by class, it is the
    probability that the node gives to the class. A regression tree has neither class nor share.
    """
    n_rows = None if tree.n_node_samples is None else int(tree.n_node_samples[node])
    if isinstance(tree, RegressionTree):
        return 0, None, None, n_rows
    label = int(tree.labels[node])
    if tree.class_counts is not None and tree.class_counts[node].any():
        count, total = int(tree.class_counts[node, label]), int(tree.class_counts[node].sum())
        return label, count / total, count, total
    return label, float(tree.value[node, label]), None, n_rows


def verdict_text(
    prediction: str, share: float | None, count: int | None, n_rows: int | None
) -> str:
    facts = [] if share is None else [f"{share:.2f}"]
    if n_rows is not None:
        rows = f"{n_rows} {'row' if n_rows == 1 else 'rows'}"
        facts.append(rows if count is None else f"{count} of {rows}")
    return f"{prediction} ({', '.join(facts)})" if facts else prediction
