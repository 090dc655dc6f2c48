"""A batch through a tree whose nodes test mixtures of features: ``annealed`` in its soft phase.

Mixtures are computed at the nodes where rows arrive, on their own path or on a flipped one, and
there for a block of rows at once.
"""

import numpy as np

from gradtree.compiling import Numbers, kernel
from gradtree.engines.entmax import fill_entmax
from gradtree.engines.selection import MIXED_ROWS as MIXED_ROWS
from gradtree.engines.selection import Extras, forget
from gradtree.engines.state import Batch, TreeArrays
from gradtree.engines.vectors import BLOCK_ROWS, subtract_mixture

_ONE, _TWO = np.uint32(1), np.uint32(2)


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
    """``descend`` for a block of rows where every node tests a mixture of features."""
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
    for level in range(len(node_table)):
        others = other_table[level]
        for b in range(rows):
            others[b] -= first_leaf
    for b in range(rows):
        leaf[b] -= first_leaf
