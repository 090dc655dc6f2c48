"""From the table to the training matrix, and from a tree over the matrix to one over the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradtree.columns.coding import Column, Kind
from gradtree.trees.simplify import rebuilt
from gradtree.trees.tree import LEAF, Tree
from gradtree.units.cuts import cut_between, too_fine
from gradtree.units.scales import (
    InnerColumn,
    Labels,
    category_column,
    number_columns,
    ordered_columns,
)


def learn_inner(
    coded: NDArray[Any],
    rows: NDArray[np.intp],
    labels: Labels,
    columns: Sequence[Column],
    scale: str | None,
) -> tuple[InnerColumn, ...]:
    """How the columns of a table become those of the training matrix.

    Learned from the ``rows`` that the tree is trained on, with their labels.
    """
    inner: list[InnerColumn] = []
    for source, column in enumerate(columns):
        values = coded[:, source]
        if column.left_out:
            continue
        if column.ordered:
            width = len(column.categories)
            inner += ordered_columns(source, values, width, rows, labels, scale)
        elif column.kind == "category":
            width = len(column.categories)
            inner.append(category_column(source, values[rows], width, labels, scale))
        else:
            inner += number_columns(source, values, rows, labels, scale)
    varying = [c for c in inner if np.ptp([*c.scores, c.missing]) > 0]
    return tuple(varying or inner[:1])


def inner_matrix(coded: NDArray[Any], inner: Sequence[InnerColumn]) -> NDArray[np.float32]:
    """The training matrix, shape (n_rows, n_inner_columns)."""
    matrix = np.empty((len(coded), len(inner)), dtype=np.float32)
    for place, column in enumerate(inner):
        matrix[:, place] = column.of(coded[:, column.source])
    return matrix


def table_tree(
    tree: Tree,
    inner: Sequence[InnerColumn],
    columns: Sequence[Column],
    coded: NDArray[Any],
    simplify: bool = True,
) -> tuple[Tree, NDArray[np.intp]]:
    """A tree over the training matrix as one over the table, and where its nodes come from.

    The training rows ``coded`` all take the same way through both trees. They also decide how cuts
    are printed, and are counted. With ``simplify``, splits that send all of them to one side are
    left out; else every node keeps its number.
    """

    @cache
    def known(source: int) -> NDArray[np.float64]:
        values = coded[:, source].astype(np.float64)
        return np.unique(values[~np.isnan(values)])

    n_nodes = tree.node_count
    feature, threshold = np.full(n_nodes, LEAF), np.full(n_nodes, np.nan)
    missing, fine = np.zeros((2, n_nodes), dtype=bool)
    counts, origin = np.zeros(n_nodes, dtype=np.int64), np.arange(n_nodes)
    members: dict[int, NDArray[np.bool_]] = {}
    instead, reach = origin.copy(), {0: np.arange(len(coded))}
    for node in range(n_nodes):
        rows = reach.pop(node)
        counts[node] = len(rows)
        if tree.children_left[node] == LEAF:
            continue
        column, border = inner[tree.feature[node]], tree.threshold[node]
        source = feature[node] = column.source
        values, steps_left = coded[rows, source], column.scores <= border
        gaps = np.isnan(values)
        if column.cuts is None:
            members[node] = steps_left
            left = steps_left[np.where(gaps, 0, values).astype(np.intp)]
        else:
            n_left, kind = int(steps_left.sum()), columns[source].kind
            threshold[node], fine[node] = _cut(column, n_left, known(source), kind)
            left = values <= values.dtype.type(threshold[node])
        if not np.array_equal(left[~gaps], column.of(values[~gaps]) <= border):
            raise RuntimeError(f"a split of {columns[source].name!r} lost its way")
        missing[node] = 2 * np.count_nonzero(left[~gaps]) >= np.count_nonzero(~gaps)
        if columns[source].gaps:
            missing[node] = column.missing <= border
        left[gaps] = missing[node]
        below = int(tree.children_left[node]), int(tree.children_right[node])
        reach[below[0]], reach[below[1]] = rows[left], rows[~left]
        if left.all() or not left.any():
            instead[node] = below[0] if left.all() else below[1]
    if simplify:
        tree, origin = rebuilt(tree, instead=instead)
    sets = {place: members[node] for place, node in enumerate(origin.tolist()) if node in members}
    table = np.zeros((len(origin), max(map(len, sets.values()), default=0)), dtype=bool)
    for place, left in sets.items():
        table[place, : len(left)] = left
    unsure = set(feature[origin][fine[origin]].tolist())
    changed = replace(
        tree,
        feature=feature[origin],
        threshold=threshold[origin],
        n_features=len(columns),
        n_node_samples=counts[origin],
        missing_left=missing[origin],
        members=table if sets else None,
        columns=tuple(replace(c, fine=place in unsure) for place, c in enumerate(columns)),
        class_counts=None,
    )
    return changed, origin


def _cut(
    column: InnerColumn, n_left: int, known: NDArray[np.float64], kind: Kind
) -> tuple[float, bool]:
    """The number that parts the steps on the left from the others, and whether that is fine."""
    assert column.cuts is not None
    if n_left == 0 or n_left == len(column.scores):
        return (np.inf if n_left else -np.inf), False
    cut = float(column.cuts[n_left - 1])
    place = int(np.searchsorted(known, cut, side="right"))
    if place == 0 or place == len(known):
        return cut, False
    low, high = float(known[place - 1]), float(known[place])
    short = cut_between(low, high, kind)
    return short, too_fine(low, short, high)
