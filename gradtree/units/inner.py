"""From the table to the training matrix, and from a tree over the matrix to one over the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradtree.columns.coding import Column
from gradtree.trees.tree import LEAF, Tree
from gradtree.units.cuts import cut_between, too_fine
from gradtree.units.scales import (
    InnerColumn,
    Labels,
    category_column,
    number_columns,
    ordered_columns,
)

INFINITY = float("inf")


def learn_inner(
    coded: NDArray[Any],
    rows: NDArray[np.intp],
    labels: Labels,
    columns: Sequence[Column],
    scale: str | None,
) -> tuple[InnerColumn, ...]:
    """How the columns of a table become those of the training matrix.

    Parameters
    ----------
    coded : ndarray of shape (n_rows, n_columns)
    rows : ndarray of int
        The rows that the tree is trained on; labels of others are not used.
    labels : Labels
        Of these rows.
    columns : sequence of Column
    scale : "quantile", "standard" or None
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
) -> Tree:
    """The same tree over the columns of the table.

    Parameters
    ----------
    tree : Tree
        Over the training matrix.
    inner : sequence of InnerColumn
        What the columns of that matrix are made of.
    columns : sequence of Column
    coded : ndarray of shape (n_rows, n_columns)
        Training rows, all of which take the same way through both trees. They also decide
        how cuts are printed, and are counted.
    simplify : bool, default=True
        Whether to leave out the splits that send all of these rows to one side. Else every node
        keeps its number.
    """
    return table_nodes(tree, inner, columns, coded, simplify)[0]


def table_nodes(
    tree: Tree,
    inner: Sequence[InnerColumn],
    columns: Sequence[Column],
    coded: NDArray[Any],
    simplify: bool = True,
) -> tuple[Tree, NDArray[np.intp]]:
    """As :func:`table_tree`, and which nodes of ``tree`` the nodes come from."""
    builder = _Builder(tree, inner, columns, coded, simplify)
    builder.grow()
    origins = [builder.nodes[place]["inner"] for place in range(len(builder.nodes))]
    return builder.tree(), np.array(origins, dtype=np.intp)


@dataclass
class _Builder:
    """Grows the tree over the table, node by node, with the rows that reach each."""

    inner_tree: Tree
    inner: Sequence[InnerColumn]
    columns: Sequence[Column]
    coded: NDArray[Any]
    simplify: bool
    nodes: dict[int, dict[str, Any]] = field(default_factory=dict)
    fine: set[int] = field(default_factory=set)
    _sorted: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    def grow(self) -> None:
        # Node of the inner tree, rows that reach it, and where to write its number.
        waiting: list[tuple[int, NDArray[np.intp], int, str]] = [
            (0, np.arange(len(self.coded)), -1, "")
        ]
        while waiting:
            node, rows, parent, side = waiting.pop()
            split, left = self._split(node, rows)
            while self.simplify and split is not None and (left.all() or not left.any()):
                node = self._child(node, bool(left.all() and len(left)))
                split, left = self._split(node, rows)
            place = len(self.nodes) if self.simplify else node
            if parent >= 0:
                self.nodes[parent][side] = place
            entry = {"left": LEAF, "right": LEAF, "rows": len(rows), "inner": node}
            self.nodes[place] = entry | (split or {})
            if split is not None:
                waiting.append((self._child(node, False), rows[~left], place, "right"))
                waiting.append((self._child(node, True), rows[left], place, "left"))

    def _child(self, node: int, left: bool) -> int:
        tree = self.inner_tree
        return int((tree.children_left if left else tree.children_right)[node])

    def _split(
        self, node: int, rows: NDArray[np.intp]
    ) -> tuple[dict[str, Any] | None, NDArray[np.bool_]]:
        """The split of a node in terms of the table, and the rows that go left."""
        if self.inner_tree.children_left[node] == LEAF:
            return None, np.empty(0, dtype=bool)
        column = self.inner[self.inner_tree.feature[node]]
        threshold = self.inner_tree.threshold[node]
        source = column.source
        values = self.coded[rows, source]
        steps_left = column.scores <= threshold
        split: dict[str, Any] = {"feature": source, "threshold": np.nan, "members": None}
        if column.cuts is None:
            split["members"] = steps_left
            left = steps_left[np.where(np.isnan(values), 0, values).astype(np.intp)]
        else:
            split["threshold"] = self._cut(column, int(steps_left.sum()))
            left = values <= values.dtype.type(split["threshold"])
        gaps = np.isnan(values)
        if not np.array_equal(left[~gaps], column.of(values[~gaps]) <= threshold):
            raise RuntimeError(f"a split of {self.columns[source].name!r} lost its way")
        if self.columns[source].gaps:
            split["missing"] = column.missing <= threshold
        else:
            split["missing"] = 2 * np.count_nonzero(left[~gaps]) >= np.count_nonzero(~gaps)
        left[gaps] = split["missing"]
        return split, left

    def _cut(self, column: InnerColumn, n_left: int) -> float:
        """The number that parts the steps on the left from the others."""
        assert column.cuts is not None
        if n_left == 0 or n_left == len(column.scores):
            return INFINITY if n_left else -INFINITY
        cut = float(column.cuts[n_left - 1])
        known = self._known(column.source)
        place = int(np.searchsorted(known, cut, side="right"))
        if place == 0 or place == len(known):
            return cut
        low, high = float(known[place - 1]), float(known[place])
        short = cut_between(low, high, self.columns[column.source].kind)
        if too_fine(low, short, high):
            self.fine.add(column.source)
        return short

    def _known(self, source: int) -> NDArray[np.float64]:
        if source not in self._sorted:
            values = self.coded[:, source].astype(np.float64)
            self._sorted[source] = np.unique(values[~np.isnan(values)])
        return self._sorted[source]

    def tree(self) -> Tree:
        nodes = [self.nodes[place] for place in range(len(self.nodes))]
        leaves = [node["inner"] for node in nodes]
        left, right = (np.array([n[side] for n in nodes], np.int32) for side in ("left", "right"))
        counts = np.array([node["rows"] for node in nodes], dtype=np.int64)
        decision = self.inner_tree.decision
        return Tree(
            left,
            right,
            np.array([node.get("feature", LEAF) for node in nodes]),
            np.array([node.get("threshold", np.nan) for node in nodes]),
            self.inner_tree.value[leaves],
            len(self.columns),
            counts,
            np.array([bool(node.get("missing", False)) for node in nodes]),
            _members([node.get("members") for node in nodes]),
            tuple(
                replace(column, fine=place in self.fine)
                for place, column in enumerate(self.columns)
            ),
            None if decision is None else decision[leaves],
        )


def _members(sets: list[NDArray[np.bool_] | None]) -> NDArray[np.bool_] | None:
    width = max((len(s) for s in sets if s is not None), default=0)
    if not width:
        return None
    table = np.zeros((len(sets), width), dtype=bool)
    for row, members in zip(table, sets, strict=True):
        if members is not None:
            row[: len(members)] = members
    return table
