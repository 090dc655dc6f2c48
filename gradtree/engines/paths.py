"""One batch through the tree and back: the exact gradients at the cost of a path per row.

Every split is hard in the forward pass, so a row reaches one leaf. In the backward pass the
straight-through derivative of the output by split ``i`` sums, over the leaves below ``i``, the leaf
value times the product of the *other* hard splits on the way there. That product is zero unless all
of them agree with the row. Hence only the nodes on the row's own path have a gradient, and each
needs two leaves: the one reached, and the one reached if its decision alone were flipped.
"""

from __future__ import annotations

from numba import njit

from gradtree.engines.adam import activate
from gradtree.engines.selection import ANNEALED, is_soft, jacobian_weights, temperature_at
from gradtree.engines.state import BLOCK


@njit(cache=True, nogil=True)
def descend(model, batch, rows):  # type: ignore[no-untyped-def]
    """Path, leaf, and flipped leaves of the first ``rows`` rows of a batch."""
    depth = batch.node.shape[1]
    first_leaf = len(model.feature)
    feature, threshold = model.feature, model.threshold
    for b in range(rows):
        x, other = batch.X[b], batch.other[b]
        node = 0
        for j in range(depth):
            score = threshold[node] - x[feature[node]]
            left = score > 0
            batch.node[b, j] = node
            batch.score[b, j] = score
            other[j] = 2 * node + 1 + left
            node = 2 * node + 2 - left
        batch.leaf[b] = node - first_leaf
        # All flipped paths one level at a time, so that their look-ups overlap.
        for level in range(1, depth):
            for j in range(level):
                node = other[j]
                left = threshold[node] - x[feature[node]] > 0
                other[j] = 2 * node + 2 - left
        for j in range(depth):
            other[j] -= first_leaf


@njit(cache=True, nogil=True)
def _mixed_score(selection, node, x):  # type: ignore[no-untyped-def]
    score = selection.offset[node]
    mixture = selection.choice[node]
    for f in range(len(x)):
        score -= mixture[f] * x[f]
    return score


@njit(cache=True, nogil=True)
def descend_mixed(model, selection, batch, rows):  # type: ignore[no-untyped-def]
    """The same where every node tests a mixture of features."""
    depth = batch.node.shape[1]
    first_leaf = len(model.feature)
    for b in range(rows):
        x = batch.X[b]
        node = 0
        for j in range(depth):
            score = _mixed_score(selection, node, x)
            left = score > 0
            batch.node[b, j] = node
            batch.score[b, j] = score
            flipped = 2 * node + 1 + left
            for _ in range(j + 1, depth):
                flipped = 2 * flipped + 2 - (_mixed_score(selection, flipped, x) > 0)
            batch.other[b, j] = flipped - first_leaf
            node = 2 * node + 2 - left
        batch.leaf[b] = node - first_leaf


@njit(cache=True, nogil=True)
def _dot(a, b):  # type: ignore[no-untyped-def]
    total = a.dtype.type(0)
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@njit(cache=True, nogil=True)
def collect(model, batch, rows):  # type: ignore[no-untyped-def]
    """Sum the derivatives by leaves and by node scores over the rows of a batch.

    Afterwards ``batch.pull[i]`` is the sum of the score derivatives of node ``i``, and its row of
    ``model.logits.slope_table`` that sum weighted with the rows' features.
    """
    depth, n_features = batch.node.shape[1], batch.X.shape[1]
    leaves = model.leaves
    n_visited = 0
    for b in range(rows):
        x, slope = batch.X[b], batch.slope[b]
        leaf = batch.leaf[b]
        for k in range(len(slope)):
            leaves.slope_table[leaf, k] += slope[k]
        here = _dot(slope, leaves.table[leaf])
        for j in range(depth):
            gain = here - _dot(slope, leaves.table[batch.other[b, j]])
            if batch.score[b, j] <= 0:
                gain = -gain
            pull = gain * batch.steepness[b, j]
            if pull == 0:
                continue
            node = batch.node[b, j]
            if not batch.is_visited[node]:
                batch.is_visited[node] = True
                batch.visited[n_visited] = node
                n_visited += 1
            batch.pull[node] += pull
            weighted = model.logits.slope_table[node]
            for f in range(n_features):
                weighted[f] += pull * x[f]
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
        pull = batch.pull[node]
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
            weights = batch.root
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
        batch.pull[node] = 0
        batch.is_visited[node] = False
