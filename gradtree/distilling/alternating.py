"""Compiled alternating optimisation of the splits of a tree, and pruning by the same loss.

One node is changed while all others stay. Rows that reach it would end in one
leaf if they went left and in another if they went right; the difference in
loss is known for each. So the best split is the one with the least sum of
differences over the rows it sends left, found by one histogram per column.
Nodes of one level have no rows in common and are changed together; then the
leaves are refitted. No step raises the loss, but for the smoothing of leaves.
(Carreira-Perpiñán and Tavallali, NeurIPS 2018, for soft labels and log loss.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradtree.compiling import entry_kernel
from gradtree.trees.tree import LEAF

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]

CODES = 256
SURELY = 1e-9
"""Share of the loss by which a split must be better to replace another: more than rounding."""


class Splits(NamedTuple):
    """A tree over codes: rows whose code is below ``cut`` go left; children come after parents."""

    left: Integers
    right: Integers
    feature: Integers
    cut: Integers


class Lesson(NamedTuple):
    """Rows to learn from.

    Attributes
    ----------
    codes : uint8, shape (rows, columns)
    shares : shape (rows, classes)
        What is to be predicted: probabilities.
    weight : shape (rows,)
    n_codes : shape (columns,)
    """

    codes: NDArray[np.uint8]
    shares: Numbers
    weight: Numbers
    n_codes: Integers


class Work(NamedTuple):
    """Working memory: rows by node, what going left costs each of them, and the nodes' classes."""

    at: Integers
    order: Integers
    start: Integers
    extra: Numbers
    histogram: Numbers
    in_class: Numbers
    log_share: Numbers


def workspace(n_rows: int, n_nodes: int, n_classes: int) -> Work:
    return Work(
        np.empty(n_rows, dtype=np.int64),
        np.empty(n_rows, dtype=np.int64),
        np.empty(n_nodes + 2, dtype=np.int64),
        np.empty(n_rows),
        np.empty(CODES),
        np.zeros((n_nodes, n_classes)),
        np.zeros((n_nodes, n_classes)),
    )


@entry_kernel()
def alternate(
    tree: Splits, depth: Integers, lesson: Lesson, work: Work, passes: int | np.int64
) -> int | np.int64:
    """Improve all splits from the bottom up, again and again; return how many passes changed any.

    ``depth`` is that of every node. Stops when a pass changes nothing.
    """
    deepest = 0
    for node in range(len(depth)):
        deepest = max(deepest, depth[node])
    for done in range(passes):
        changed = 0
        for below in range(deepest):
            level = deepest - 1 - below
            weigh(tree, lesson, work.in_class)
            smoothed_logs(tree, work.in_class, work.log_share)
            _sort_rows(tree, depth, level, lesson.codes, work)
            for node in range(len(depth)):
                if depth[node] == level and tree.left[node] != LEAF:
                    changed += _improve(node, tree, lesson, work)
        if not changed:
            return done
    return passes


@entry_kernel()
def leaf_of(
    tree: Splits, codes: NDArray[np.uint8], row: int | np.int64, node: int | np.int64
) -> int | np.int64:
    """The leaf that a row reaches from ``node``."""
    while tree.left[node] != LEAF:
        goes_left = codes[row, tree.feature[node]] < tree.cut[node]
        node = tree.left[node] if goes_left else tree.right[node]
    return node


@entry_kernel()
def leaves_of(tree: Splits, codes: NDArray[np.uint8], leaves: Integers) -> None:
    """The leaf that every row reaches."""
    for row in range(len(codes)):
        leaves[row] = leaf_of(tree, codes, row, np.int64(0))


@entry_kernel()
def weigh(tree: Splits, lesson: Lesson, count: Numbers) -> None:
    """The weight of every class at every node."""
    n_classes = count.shape[1]
    for node in range(len(tree.left)):
        for k in range(n_classes):
            count[node, k] = 0.0
    for row in range(len(lesson.weight)):
        leaf = leaf_of(tree, lesson.codes, row, np.int64(0))
        for k in range(n_classes):
            count[leaf, k] += lesson.weight[row] * lesson.shares[row, k]
    for after in range(len(tree.left)):
        node = len(tree.left) - 1 - after
        if tree.left[node] != LEAF:
            for k in range(n_classes):
                count[node, k] += count[tree.left[node], k] + count[tree.right[node], k]


@entry_kernel()
def smoothed_logs(tree: Splits, count: Numbers, log_share: Numbers) -> None:
    """Logarithms of class shares, with one row of the parent's shares joined to every node."""
    n_classes = count.shape[1]
    for k in range(n_classes):
        log_share[0, k] = 1.0 / n_classes
    _join(count, log_share, np.int64(0), np.int64(0))
    for node in range(len(tree.left)):
        if tree.left[node] != LEAF:
            _join(count, log_share, node, tree.left[node])
            _join(count, log_share, node, tree.right[node])
    for node in range(len(tree.left)):
        for k in range(n_classes):
            log_share[node, k] = np.log(log_share[node, k])


@entry_kernel()
def _join(count: Numbers, share: Numbers, parent: int | np.int64, node: int | np.int64) -> None:
    total = 1.0
    for k in range(count.shape[1]):
        total += count[node, k]
    for k in range(count.shape[1]):
        share[node, k] = (count[node, k] + share[parent, k]) / total


@entry_kernel()
def _sort_rows(
    tree: Splits,
    depth: Integers,
    level: int | np.int64,
    codes: NDArray[np.uint8],
    work: Work,
) -> None:
    """List the rows by the node of a level that they reach, in ``order`` from ``start`` on."""
    n_nodes, at, start = len(depth), work.at, work.start
    for node in range(n_nodes + 2):
        start[node] = 0
    for row in range(len(codes)):
        here: int | np.int64 = np.int64(0)
        while depth[here] < level and tree.left[here] != LEAF:
            goes_left = codes[row, tree.feature[here]] < tree.cut[here]
            here = tree.left[here] if goes_left else tree.right[here]
        at[row] = here if depth[here] == level else n_nodes
        start[at[row] + 1] += 1
    for node in range(n_nodes + 1):
        start[node + 1] += start[node]
    for row in range(len(codes)):
        work.order[start[at[row]]] = row
        start[at[row]] += 1
    for after in range(n_nodes + 1):
        node = n_nodes + 1 - after
        start[node] = start[node - 1]
    start[0] = 0


@entry_kernel()
def _improve(node: int | np.int64, tree: Splits, lesson: Lesson, work: Work) -> int | np.int64:
    """Give a node the best split for the rows that reach it; return 1 if it has another now."""
    codes, extra, histogram = lesson.codes, work.extra, work.histogram
    first, last = work.start[node], work.start[node + 1]
    now = 0.0
    for i in range(first, last):
        row = work.order[i]
        left = leaf_of(tree, codes, row, tree.left[node])
        right = leaf_of(tree, codes, row, tree.right[node])
        cost = 0.0
        if left != right:
            for k in range(lesson.shares.shape[1]):
                saved = work.log_share[right, k] - work.log_share[left, k]
                cost += lesson.shares[row, k] * saved
        extra[i] = lesson.weight[row] * cost
        if codes[row, tree.feature[node]] < tree.cut[node]:
            now += extra[i]
    least = now - SURELY * (abs(now) + 1.0)
    found = 0
    feature, cut = tree.feature[node], tree.cut[node]
    for column in range(codes.shape[1]):
        n_codes = lesson.n_codes[column]
        for code in range(n_codes):
            histogram[code] = 0.0
        for i in range(first, last):
            histogram[codes[work.order[i], column]] += extra[i]
        total = 0.0
        for code in range(n_codes + 1):
            if total < least:
                least, feature, cut, found = total, np.int64(column), np.int64(code), 1
            if code < n_codes:
                total += histogram[code]
    tree.feature[node], tree.cut[node] = feature, cut
    return found


@entry_kernel()
def cut_weakest(
    tree: Splits,
    risk: Numbers,
    most: int | np.int64,
    branch: Numbers,
    leaves: Integers,
    there: NDArray[np.bool_],
) -> None:
    """Cut the links that save nothing, then join the cheapest pairs of leaves down to ``most``.

    Pairs alone, since the link that saves least per leaf may be the root, which would leave one
    leaf where many are allowed. ``risk`` is the loss of every node as a leaf; ``branch``,
    ``leaves`` and ``there`` are room.
    """
    n_nodes = len(risk)
    while True:
        for after in range(n_nodes):
            node = n_nodes - 1 - after
            branch[node], leaves[node], there[node] = risk[node], 1, node == 0
            if tree.left[node] != LEAF:
                branch[node] = branch[tree.left[node]] + branch[tree.right[node]]
                leaves[node] = leaves[tree.left[node]] + leaves[tree.right[node]]
        weakest, least = np.int64(-1), np.inf
        for node in range(n_nodes):
            if there[node] and tree.left[node] != LEAF:
                there[tree.left[node]] = there[tree.right[node]] = True
                price = (risk[node] - branch[node]) / (leaves[node] - 1)
                if price < least and (price <= 0.0 or leaves[node] == 2):
                    weakest, least = np.int64(node), price
        if weakest < 0 or (leaves[0] <= most and least > 0.0):
            return
        tree.left[weakest] = tree.right[weakest] = LEAF
