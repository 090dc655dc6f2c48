"""One batch through the tree and back: the exact gradients at the cost of a path per row.

Every split is hard in the forward pass, so a row reaches one leaf. In the backward pass the
straight-through derivative of the output by split ``i`` sums, over the leaves below ``i``, the leaf
value times the product of the *other* hard splits on the way there. That product is zero unless all
of them agree with the row. Hence only the nodes on the row's own path have a gradient, and each
needs two leaves: the one reached, and the one reached if its decision alone were flipped.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gradtree.engines.adam import activate
from gradtree.engines.selection import ANNEALED, is_soft, jacobian_weights, temperature_at
from gradtree.engines.state import BLOCK


_ONE, _TWO = np.uint32(1), np.uint32(2)


@njit(cache=True, nogil=True)
def _step(feature, threshold, X, at):  # type: ignore[no-untyped-def]
    """Move every row from node ``at[b]`` to the child that it belongs to."""
    for b in range(len(at)):
        node = at[b]
        left = np.uint32(threshold[node] > X[b, feature[node]])
        at[b] = node + node + _TWO - left


@njit(cache=True, nogil=True)
def find_leaves(model, X, leaf):  # type: ignore[no-untyped-def]
    """Leaf that each row of ``X`` reaches."""
    first_leaf = np.uint32(len(model.feature))
    for b in range(len(leaf)):
        leaf[b] = 0
    for _ in range(_depth(model)):
        _step(model.feature, model.threshold, X, leaf)
    for b in range(len(leaf)):
        leaf[b] -= first_leaf


@njit(cache=True, nogil=True)
def _depth(model):  # type: ignore[no-untyped-def]
    depth = 0
    while 1 << depth <= len(model.feature):
        depth += 1
    return depth


@njit(cache=True, nogil=True)
def descend(model, batch, rows):  # type: ignore[no-untyped-def]
    """Path, leaf, and flipped leaves of the first ``rows`` rows of a batch.

    All rows, and the flipped paths of all levels so far, take one step at a time: their look-ups
    do not wait for one another.
    """
    X, leaf = batch.X[:rows], batch.leaf[:rows]
    feature, threshold = model.feature, model.threshold
    first_leaf = np.uint32(len(feature))
    for b in range(rows):
        leaf[b] = 0
    for level in range(len(batch.node)):
        path, scores, others = batch.node[level], batch.score[level], batch.other[level]
        for b in range(rows):
            node = leaf[b]
            score = threshold[node] - X[b, feature[node]]
            left = np.uint32(score > 0)
            path[b] = node
            scores[b] = score
            others[b] = node + node + _ONE + left
            leaf[b] = node + node + _TWO - left
        for above in range(level):
            _step(feature, threshold, X, batch.other[above, :rows])
    for level in range(len(batch.node)):
        others = batch.other[level]
        for b in range(rows):
            others[b] -= first_leaf
    for b in range(rows):
        leaf[b] -= first_leaf


@njit(cache=True, nogil=True)
def _mixed_score(selection, node, x):  # type: ignore[no-untyped-def]
    score = selection.offset[node]
    mixture = selection.choice[node]
    for f in range(len(x)):
        score -= mixture[f] * x[f]
    return score


@njit(cache=True, nogil=True)
def descend_mixed(selection, batch, rows):  # type: ignore[no-untyped-def]
    """The same where every node tests a mixture of features."""
    depth = len(batch.node)
    first_leaf = np.uint32(len(selection.offset))
    for b in range(rows):
        x = batch.X[b]
        node = np.uint32(0)
        for level in range(depth):
            score = _mixed_score(selection, node, x)
            left = np.uint32(score > 0)
            batch.node[level, b] = node
            batch.score[level, b] = score
            flipped = np.uint32(node + node + _ONE + left)
            for _ in range(level + 1, depth):
                left_again = np.uint32(_mixed_score(selection, flipped, x) > 0)
                flipped = np.uint32(flipped + flipped + _TWO - left_again)
            batch.other[level, b] = flipped - first_leaf
            node = np.uint32(node + node + _TWO - left)
        batch.leaf[b] = node - first_leaf


@njit(cache=True, nogil=True)
def _dot(a, b):  # type: ignore[no-untyped-def]
    total = a.dtype.type(0)
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@njit(cache=True, nogil=True)
def _pull(model, batch, rows):  # type: ignore[no-untyped-def]
    """Derivative of the batch loss by the score of every node on every path."""
    leaves = model.leaves.table
    zero = leaves.dtype.type(0)
    for level in range(len(batch.node)):
        others, pulls = batch.other[level], batch.pull[level]
        scores, steepness = batch.score[level], batch.steepness[level]
        if leaves.shape[1] == 1:
            flat = leaves[:, 0]
            for b in range(rows):
                pulls[b] = batch.slope[b, 0] * (flat[batch.leaf[b]] - flat[others[b]])
        else:
            for b in range(rows):
                here = _dot(batch.slope[b], leaves[batch.leaf[b]])
                pulls[b] = here - _dot(batch.slope[b], leaves[others[b]])
        for b in range(rows):
            pulls[b] *= steepness[b] if scores[b] > zero else -steepness[b]


@njit(cache=True, nogil=True)
def collect(model, batch, rows):  # type: ignore[no-untyped-def]
    """Sum the derivatives by leaves and by node scores over the rows of a batch.

    Afterwards ``batch.total_pull[i]`` is the sum of the score derivatives of node ``i``, and its
    row of ``model.logits.slope_table`` that sum weighted with the rows' features. Returns the
    number of nodes with a gradient, which ``batch.visited`` lists.
    """
    leaf_slopes, sums = model.leaves.slope_table, model.logits.slope_table
    for b in range(rows):
        for k in range(leaf_slopes.shape[1]):
            leaf_slopes[batch.leaf[b], k] += batch.slope[b, k]
    _pull(model, batch, rows)
    n_visited = np.uint32(0)
    for level in range(len(batch.node)):
        path, pulls = batch.node[level], batch.pull[level]
        for b in range(rows):
            pull = pulls[b]
            if pull == 0:
                continue
            node = path[b]
            if not batch.is_visited[node]:
                batch.is_visited[node] = True
                batch.visited[n_visited] = node
                n_visited = np.uint32(n_visited + _ONE)
            batch.total_pull[node] += pull
            total, x = sums[node], batch.X[b]
            for f in range(len(x)):
                total[f] += pull * x[f]
    return n_visited


@njit(cache=True, nogil=True)
def activate_row(group, row, step, pace):  # type: ignore[no-untyped-def]
    """Include a whole row of a parameter matrix in the update of this step."""
    width = group.table.shape[1]
    for block in range(row * width // BLOCK, (row * width + width - 1) // BLOCK + 1):
        activate(group, block, step, pace)


@njit(cache=True, nogil=True, error_model="numpy")
def distribute(model, selection, batch, n_visited, step, pace):  # type: ignore[no-untyped-def]
    """Turn what ``collect`` summed into gradients of thresholds and logits."""
    soft = is_soft(selection, step)
    hard_for_good = selection.kind == ANNEALED and not soft
    temperature = temperature_at(selection, step)
    real = model.threshold.dtype.type
    for v in range(n_visited):
        node = batch.visited[v]
        pull = batch.total_pull[node]
        slopes = model.logits.slope_table[node]
        thresholds = model.thresholds.table[node]
        if soft:
            for f in range(len(slopes)):
                model.thresholds.slope_table[node, f] = pull * selection.choice[node, f]
            activate_row(model.thresholds, node, step, pace)
        else:
            column = model.feature[node]
            model.thresholds.slope_table[node, column] = pull
            activate(model.thresholds, (node * len(slopes) + column) // BLOCK, step, pace)
        if hard_for_good:
            slopes[:] = 0
        else:
            weights = batch.weights
            total = jacobian_weights(model, selection, node, temperature, weights)
            mean = real(0)
            for f in range(len(slopes)):
                slopes[f] = pull * thresholds[f] - slopes[f]
                mean += weights[f] * slopes[f]
            mean /= total
            scale = real(1 / temperature)
            for f in range(len(slopes)):
                slopes[f] = weights[f] * (slopes[f] - mean) * scale
            activate_row(model.logits, node, step, pace)
        batch.total_pull[node] = 0
        batch.is_visited[node] = False
