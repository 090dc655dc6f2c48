"""One batch through the tree and back: the exact gradients at the cost of a path per row.

Every split is hard in the forward pass, so a row reaches one leaf. In the backward pass the
straight-through derivative of the output by split ``i`` sums, over the leaves below ``i``, the leaf
value times the product of the *other* hard splits on the way there. That product is zero unless all
of them agree with the row. Hence only the nodes on the row's own path have a gradient, and each
needs two leaves: the one reached, and the one reached if its decision alone were flipped.
"""

import numpy as np
from numpy.typing import NDArray

from gradtree.compiling import Floats, Numbers, Real, kernel
from gradtree.engines.adam import Pace, activate
from gradtree.engines.arithmetic import split_slopes
from gradtree.engines.entmax import fill_entmax
from gradtree.engines.selection import (
    GUMBEL,
    MIXED_ROWS,
    Extras,
    Selection,
    choose_noisily,
    forget,
    is_soft,
    jacobian_weights,
    note_arrivals,
    temperature_at,
)
from gradtree.engines.state import Batch, Group, TreeArrays, Visits
from gradtree.engines.streams import EVALUATION
from gradtree.engines.vectors import BLOCK_ROWS, add_scaled, subtract_mixture

_ONE, _TWO = np.uint32(1), np.uint32(2)


@kernel()
def _step(feature: Numbers, threshold: Floats, X: Floats, at: Numbers) -> None:
    """Move every row from node ``at[b]`` to the child that it belongs to."""
    for b in range(len(at)):
        node = at[b]
        # A row on the threshold goes right: a logistic function of zero is rounded to even, zero.
        left = np.uint32(threshold[node] > X[b, feature[node]])
        at[b] = node + node + _TWO - left


@kernel()
def _count_from_the_left(
    leaf: Numbers, other_table: Numbers, rows: int, first_leaf: np.uint32
) -> None:
    """Nodes of the lowest level as indices of leaves: those reached, and those of flipped paths."""
    for level in range(len(other_table)):
        others = other_table[level]
        for b in range(rows):
            others[b] -= first_leaf
    for b in range(rows):
        leaf[b] -= first_leaf


@kernel()
def find_leaves(
    tree: TreeArrays, extras: Extras | None, noise: int, X: Floats, leaf: Numbers
) -> None:
    """Leaf that each row of ``X`` reaches; with evaluation noise, unless ``noise`` is negative."""
    if extras is not None:
        forget(extras)
    first_leaf = np.uint32(len(tree.feature))
    for b in range(len(leaf)):
        leaf[b] = 0
    level = 0
    while 1 << level <= len(tree.feature):
        if extras is not None and noise >= 0:
            note_arrivals(extras, leaf)
            choose_noisily(tree, extras, EVALUATION + np.uint64(noise), level)
        _step(tree.feature, tree.threshold, X, leaf)
        level += 1
    for b in range(len(leaf)):
        leaf[b] -= first_leaf


@kernel()
def _mix(tree: TreeArrays, extras: Extras, temperature: float, nodes: Numbers) -> None:
    """Mixtures of features, and of thresholds, of these nodes."""
    logits, thresholds, feature = tree.logits, tree.thresholds, tree.feature
    choice, offset, n_features = extras.choice, extras.offset, logits.shape[1]
    for v in range(len(nodes)):
        row, mixture = logits[nodes[v]], choice[nodes[v], :n_features]
        fill_entmax(row, row[feature[nodes[v]]], temperature, mixture)
        total = offset.dtype.type(0)
        for f in range(n_features):
            total += mixture[f] * thresholds[nodes[v], f]
        offset[nodes[v]] = total


@kernel()
def _score(
    tree: TreeArrays, extras: Extras, temperature: float, nodes: Numbers, new: Numbers
) -> None:
    """Scores of the blocks of rows whose rows arrive at these nodes, where there are none yet."""
    chosen, choice, offset, scored = extras.chosen, extras.choice, extras.offset, extras.scored
    columns, scores, n_new = extras.columns, extras.scores, 0
    for b in range(len(nodes)):
        node = nodes[b]
        if not chosen[node]:
            chosen[node] = True
            scored[node] = 0
            new[n_new] = node
            n_new += 1
    _mix(tree, extras, temperature, new[:n_new])
    for b in range(len(nodes)):
        node, block = nodes[b], b // BLOCK_ROWS
        bit = np.uint32(1 << block)
        if not scored[node] & bit:
            scored[node] |= bit
            subtract_mixture(offset[node], choice[node], columns[block], scores[node, block])


@kernel()
def descend_mixed(
    tree: TreeArrays, extras: Extras, temperature: float, batch: Batch, start: int, rows: int
) -> None:
    """``descend`` for a block of rows where every node tests a mixture: ``annealed`` at first.

    Mixtures are computed at the nodes where rows arrive, on their own path or on a flipped one, and
    there for a block of rows at once.
    """
    end = start + rows
    leaf, node_table = batch.leaf[start:end], batch.node[:, start:end]
    score_table, other_table = batch.score[:, start:end], batch.other[:, start:end]
    columns, mixed, first_leaf = extras.columns, extras.scores, np.uint32(len(tree.feature))
    visited = batch.visits.visited
    forget(extras)
    for b in range(rows):
        leaf[b] = 0
        for f in range(tree.logits.shape[1]):
            columns[b // BLOCK_ROWS, f, b % BLOCK_ROWS] = batch.X[start + b, f]
    for level in range(len(node_table)):
        path, scores, others = node_table[level], score_table[level], other_table[level]
        _score(tree, extras, temperature, leaf, visited)
        for b in range(rows):
            node = leaf[b]
            scores[b] = mixed[node, b // BLOCK_ROWS, b % BLOCK_ROWS]
            left = np.uint32(scores[b] > 0)
            path[b] = node
            others[b] = node + node + _ONE + left
            leaf[b] = node + node + _TWO - left
        for above in range(level):
            others = other_table[above]
            _score(tree, extras, temperature, others, visited)
            for b in range(rows):
                score = mixed[others[b], b // BLOCK_ROWS, b % BLOCK_ROWS]
                left = np.uint32(score > 0)
                others[b] = others[b] + others[b] + _TWO - left
    _count_from_the_left(leaf, other_table, rows, first_leaf)


@kernel()
def descend(
    tree: TreeArrays,
    selection: Selection,
    extras: Extras | None,
    batch: Batch,
    rows: int,
    step: int,
) -> None:
    """Path, leaf, and flipped leaves of the first ``rows`` rows of a batch.

    All rows, and the flipped paths of all levels so far, take one step at a time: their look-ups
    do not wait for one another.
    """
    X, leaf = batch.X[:rows], batch.leaf[:rows]
    node_table, score_table, other_table = batch.node, batch.score, batch.other
    feature, threshold = tree.feature, tree.threshold
    if extras is not None:
        if is_soft(selection, extras, step):
            temperature = temperature_at(selection, extras, step)
            for start in range(0, rows, MIXED_ROWS):
                block = min(MIXED_ROWS, rows - start)
                descend_mixed(tree, extras, temperature, batch, start, block)
            return
        forget(extras)
    first_leaf = np.uint32(len(feature))
    for b in range(rows):
        leaf[b] = 0
    for level in range(len(node_table)):
        path, scores, others = node_table[level], score_table[level], other_table[level]
        if extras is not None and selection.kind == GUMBEL:
            note_arrivals(extras, leaf)
            for above in range(level):
                note_arrivals(extras, other_table[above, :rows])
            choose_noisily(tree, extras, np.uint64(step), level)
        for b in range(rows):
            node = leaf[b]
            score = threshold[node] - X[b, feature[node]]
            left = np.uint32(score > 0)
            path[b] = node
            scores[b] = score
            others[b] = node + node + _ONE + left
            leaf[b] = node + node + _TWO - left
        for above in range(level):
            _step(feature, threshold, X, other_table[above, :rows])
    _count_from_the_left(leaf, other_table, rows, first_leaf)


@kernel()
def _dot(a: Floats, b: Floats) -> Real:
    total = a.dtype.type(0)
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@kernel()
def pull_scores(
    table: Floats, flat: Floats, split: int, steepness: Real, batch: Batch, rows: int
) -> None:
    """Derivative of the batch loss by the score of every node on every path.

    ``table`` holds the leaves and ``flat`` the same numbers in a row, ``split`` is the code of a
    split function of ``SPLITS``.
    """
    slope, leaf, slopes = batch.slope, batch.leaf, batch.steepness[:rows]
    other, pull, score, zero = batch.other, batch.pull, batch.score, flat.dtype.type(0)
    for level in range(len(score)):
        others, pulls, scores = other[level], pull[level], score[level]
        split_slopes(scores[:rows], split, steepness, slopes)
        if table.shape[1] == 1:
            for b in range(rows):
                pulls[b] = slope[b, 0] * (flat[leaf[b]] - flat[others[b]])
        else:
            for b in range(rows):
                pulls[b] = _dot(slope[b], table[leaf[b]]) - _dot(slope[b], table[others[b]])
        # Leaf reached minus leaf not reached is left minus right only where the row went left.
        for b in range(rows):
            pulls[b] *= slopes[b] if scores[b] > zero else -slopes[b]


@kernel()
def sum_over_rows(batch: Batch, rows: int, settled: NDArray[np.bool_], leaf_slopes: Floats) -> int:
    """Sum the derivatives by leaves and by node scores over the rows of a batch.

    Afterwards ``batch.visits.total_pull[i]`` is the sum of the score derivatives of node ``i``
    and, unless the node is settled, ``visits.sums[i]`` that sum weighted with the rows' features.
    Returns the number of nodes passed, which ``visited`` lists.
    """
    node, pull, X, slope, leaf = (batch.node, batch.pull, batch.X, batch.slope, batch.leaf)
    visits = batch.visits
    total_pull, visited, is_visited = visits.total_pull, visits.visited, visits.is_visited
    n_visited, sums = 0, visits.sums
    # Row after row: another order of these sums would send a training elsewhere in the end.
    for b in range(rows):
        x = X[b]
        for k in range(leaf_slopes.shape[1]):
            leaf_slopes[leaf[b], k] += slope[b, k]
        for level in range(len(node)):
            at, p = node[level, b], pull[level, b]
            total_pull[at] += p
            if not is_visited[at]:
                is_visited[at] = True
                visited[n_visited] = at
                n_visited += 1
            if not settled[at]:
                add_scaled(sums[at], p, x)
    return n_visited


@kernel()
def threshold_slopes(
    group: Group,
    feature: Numbers,
    visits: Visits,
    n_visited: int,
    selection: Selection,
    extras: Extras | None,
    step: int,
    pace: Pace,
) -> None:
    """Gradients of the thresholds from what ``sum_over_rows`` left."""
    flat, width = group.slope, np.uint32(group.slope_table.shape[1])
    visited, entry, total_pull = visits.visited, visits.entry, visits.total_pull
    if extras is not None and is_soft(selection, extras, step):
        table = group.slope_table
        for v in range(n_visited):
            row, mixture = table[visited[v]], extras.choice[visited[v]]
            for f in range(len(row)):
                row[f] = total_pull[visited[v]] * mixture[f]
        activate(group, visited[:n_visited], table.shape[1], step, pace)
        return
    # The choice is one-hot in the forward pass: only the chosen feature's threshold has a gradient.
    for v in range(n_visited):
        at = visited[v]
        entry[v] = at * width + feature[at]
        flat[entry[v]] = total_pull[at]
    # A plain 1 would be a type of its own, and the kernel compiled once more for it.
    activate(group, entry[:n_visited], np.int64(1), step, pace)


@kernel()
def _through_jacobian(
    weights: Floats, totals: Floats, slopes: Floats, nodes: Numbers, scale: Real
) -> None:
    """Turn the gradients of choices at these nodes into those of their logits."""
    for v in range(len(nodes)):
        mean, row = totals.dtype.type(0), slopes[nodes[v]]
        for f in range(len(row)):
            mean += weights[v, f] * row[f]
        totals[v] = mean / totals[v]
    for v in range(len(nodes)):
        mean, row = totals[v], slopes[nodes[v]]
        for f in range(len(row)):
            row[f] = weights[v, f] * (row[f] - mean) * scale


@kernel()
def logit_slopes(
    tree: TreeArrays,
    group: Group,
    settled: NDArray[np.bool_],
    visits: Visits,
    n_visited: int,
    selection: Selection,
    extras: Extras | None,
    step: int,
    pace: Pace,
) -> None:
    """Gradients of the logits from what ``sum_over_rows`` left, which is cleared."""
    table, thresholds, sums = group.slope_table, tree.thresholds, visits.sums
    visited, is_visited, total_pull = visits.visited, visits.is_visited, visits.total_pull
    weights, totals, temperature = visits.weights, visits.totals, selection.temperature
    if extras is not None:
        temperature = temperature_at(selection, extras, step)
    scale = weights.dtype.type(1 / temperature)
    moving = 0
    for v in range(n_visited):
        at = visited[v]
        if not settled[at]:
            pull, row, total = total_pull[at], table[at], sums[at]
            for f in range(len(row)):
                row[f] = pull * thresholds[at, f] - total[f]
            for f in range(len(total)):
                total[f] = 0
            visited[moving] = at
            moving += 1
        total_pull[at] = 0
        is_visited[at] = False
    # Some nodes at a time, in one loop after the other, so that no sum waits for another.
    for first in range(0, moving, len(totals)):
        nodes = visited[first : min(first + len(totals), moving)]
        jacobian_weights(tree, selection, extras, nodes, temperature, weights, totals)
        _through_jacobian(weights, totals, table, nodes, scale)
    activate(group, visited[:moving], table.shape[1], step, pace)
