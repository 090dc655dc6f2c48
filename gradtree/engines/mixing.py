"""A batch through a tree whose nodes test mixtures of features: ``annealed`` in its soft phase.

Mixtures are computed at the nodes where rows arrive, on their own path or on a flipped one, and
there for a block of rows at once.
"""

from __future__ import annotations

import numpy as np

from gradtree.compiling import Floats, Numbers, Real, kernel
from gradtree.engines.entmax import entmax_root
from gradtree.engines.selection import BLOCK_ROWS as BLOCK_ROWS
from gradtree.engines.selection import Extras, forget
from gradtree.engines.state import Batch, TreeArrays

_ONE, _TWO = np.uint32(1), np.uint32(2)


@kernel()
def _mix(
    logits: Floats, largest: Real, thresholds: Floats, temperature: float, mixture: Floats
) -> Real:
    """Fill in the mixture of features that a node tests; the mixture of its thresholds."""
    entmax_root(logits, largest, temperature, mixture)
    offset = mixture.dtype.type(0)
    for f in range(len(mixture)):
        mixture[f] *= mixture[f]
        offset += mixture[f] * thresholds[f]
    return offset


@kernel()
def _score_rows(offset: Real, mixture: Floats, columns: Floats, scores: Floats) -> None:
    """Scores of a block of rows at a node that tests a mixture of features."""
    for b in range(len(scores)):
        scores[b] = offset
    # Four features at once, one after the other: sums in another order would be other sums.
    for f in range(0, len(mixture), 4):
        m0, m1, m2, m3 = mixture[f], mixture[f + 1], mixture[f + 2], mixture[f + 3]
        x0, x1, x2, x3 = columns[f], columns[f + 1], columns[f + 2], columns[f + 3]
        if m0 + m1 + m2 + m3 > 0:
            for b in range(len(scores)):
                scores[b] = scores[b] - m0 * x0[b] - m1 * x1[b] - m2 * x2[b] - m3 * x3[b]


@kernel()
def _mix_at(
    tree: TreeArrays, extras: Extras, temperature: float, nodes: Numbers, rows: int
) -> None:
    """Mixtures and scores of those of these nodes that have none yet."""
    chosen, choice, columns, scores = extras.chosen, extras.choice, extras.columns, extras.scores
    logits, thresholds, feature = tree.logits, tree.thresholds, tree.feature
    for b in range(len(nodes)):
        node = nodes[b]
        if not chosen[node]:
            chosen[node] = True
            row, mixture = logits[node], choice[node, : logits.shape[1]]
            offset = _mix(row, row[feature[node]], thresholds[node], temperature, mixture)
            _score_rows(offset, choice[node], columns, scores[node, :rows])


@kernel()
def descend_mixed(
    tree: TreeArrays, extras: Extras, temperature: float, batch: Batch, start: int, rows: int
) -> None:
    """``descend`` for a block of rows where every node tests a mixture of features."""
    end = start + rows
    leaf, node_table = batch.leaf[start:end], batch.node[:, start:end]
    score_table, other_table = batch.score[:, start:end], batch.other[:, start:end]
    columns, mixed, first_leaf = extras.columns, extras.scores, np.uint32(len(tree.feature))
    forget(extras.chosen)
    for b in range(rows):
        leaf[b] = 0
        for f in range(batch.X.shape[1]):
            columns[f, b] = batch.X[start + b, f]
    for level in range(len(node_table)):
        path, scores, others = node_table[level], score_table[level], other_table[level]
        _mix_at(tree, extras, temperature, leaf, rows)
        for b in range(rows):
            node = leaf[b]
            left = np.uint32(mixed[node, b] > 0)
            path[b] = node
            scores[b] = mixed[node, b]
            others[b] = node + node + _ONE + left
            leaf[b] = node + node + _TWO - left
        for above in range(level):
            others = other_table[above]
            _mix_at(tree, extras, temperature, others, rows)
            for b in range(rows):
                left = np.uint32(mixed[others[b], b] > 0)
                others[b] = others[b] + others[b] + _TWO - left
    for level in range(len(node_table)):
        others = other_table[level]
        for b in range(rows):
            others[b] -= first_leaf
    for b in range(rows):
        leaf[b] -= first_leaf
