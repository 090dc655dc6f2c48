"""Feature selection inside the compiled engine: choices before a batch, weights after it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradtree.compiling import Floats, Integers, Numbers, Real, kernel
from gradtree.engines.arithmetic import exp
from gradtree.engines.entmax import entmax_root
from gradtree.engines.state import Model, TreeArrays
from gradtree.engines.streams import GROUP, GROUPS, draw_words, exact_noise
from gradtree.engines.vectors import BLOCK, BLOCK_ROWS
from gradtree.settings.selectors import SELECTORS, Selector
from gradtree.trees.dense import DenseTree

ENTMAX, GUMBEL = SELECTORS["entmax"], SELECTORS["gumbel"]
ANNEALED, SOFTMAX = SELECTORS["annealed"], SELECTORS["softmax"]
_ONE = np.uint32(1)
MIXED_ROWS = 8 * BLOCK_ROWS
"""Rows that go through a tree of mixtures together."""


class Selection(NamedTuple):
    """A selector: its code in ``SELECTORS``, and what divides the logits."""

    kind: int
    temperature: float


class Extras(NamedTuple):
    """What only some trainings need, so that the loop for all others is compiled without it.

    Kernels get it beside the run, or ``None``: Numba drops a branch on ``extras is None`` before
    it compiles. In a tuple it would not see that.

    ``chosen`` are the nodes where rows of the batch have arrived: what follows counts for them. For
    gumbel, ``fresh`` are those of the level in hand, ``groups`` lists the ``n_groups[0]`` groups of
    random words behind the noise of their logits, and ``noise`` holds that, of a node from
    ``place`` on. For annealed, ``choice`` holds the mixture of features of every node and
    ``offset`` that of its thresholds, ``columns`` the features of the rows in blocks, and
    ``scores`` their scores at the nodes for which a bit of ``scored`` says that the block has some.
    What a selector does not need is empty.
    """

    final_temperature: float
    anneal_steps: int
    noisy_evaluation: bool
    key: np.uint64
    chosen: NDArray[np.bool_]  # (N,)
    fresh: Numbers  # (N + 1,)
    place: Numbers  # (N,)
    groups: Numbers
    n_groups: Integers
    words: Numbers  # work space
    noise: NDArray[Any]
    choice: NDArray[Any]  # (N, n_features)
    offset: NDArray[Any]  # (N,)
    scored: Numbers  # (N,)
    columns: NDArray[Any]  # (blocks, n_features, BLOCK_ROWS)
    scores: NDArray[Any]  # (N, blocks, BLOCK_ROWS)


def new_extras(selector: Selector, key: np.uint64, start: DenseTree, dtype: Any) -> Extras | None:
    """Room for noise or mixtures, if any are needed."""
    noisy, soft = selector.kind == "gumbel", selector.kind == "annealed"
    if not noisy and not soft:
        return None
    n_nodes, n_features = start.logits.shape
    n_groups = (n_nodes * (n_features // GROUP + 2) + GROUPS) * noisy
    return Extras(
        selector.final_temperature,
        selector.anneal_steps,
        selector.noisy_evaluation,
        key,
        np.zeros(n_nodes, dtype=np.bool_),
        np.zeros((n_nodes + 1) * noisy, dtype=np.uint32),
        np.zeros(n_nodes * noisy, dtype=np.uint32),
        np.zeros(n_groups, dtype=np.uint32),
        np.zeros(1, dtype=np.int64),
        np.zeros(GROUPS * GROUP, dtype=np.uint32),
        np.zeros(n_groups * GROUP, dtype=dtype),
        np.zeros((n_nodes * soft, n_features), dtype=dtype),
        np.zeros(n_nodes * soft, dtype=dtype),
        np.zeros(n_nodes * soft, dtype=np.uint32),
        np.zeros((MIXED_ROWS // BLOCK_ROWS * soft, n_features, BLOCK_ROWS), dtype=dtype),
        np.zeros((n_nodes * soft, MIXED_ROWS // BLOCK_ROWS, BLOCK_ROWS), dtype=dtype),
    )


@kernel()
def is_soft(selection: Selection, extras: Extras, step: int) -> bool:
    """Whether nodes mix features in this batch."""
    return selection.kind == ANNEALED and step <= extras.anneal_steps


@kernel()
def temperature_at(selection: Selection, extras: Extras, step: int) -> float:
    """What divides the logits in this batch."""
    if selection.kind != ANNEALED:
        return selection.temperature
    ratio = extras.final_temperature / selection.temperature
    return selection.temperature * ratio ** ((step - 1) / extras.anneal_steps)


@kernel()
def argmax(row: Floats) -> int:
    """Index of the largest entry, the first one on ties."""
    best = 0
    for f in range(1, len(row)):
        if row[f] > row[best]:
            best = f
    return best


@kernel(fastmath={"nnan", "nsz"})
def _largest(row: Floats, least: Real) -> Real:
    # Without NaN the order of comparisons does not matter, so they may be vectorised.
    for f in range(len(row)):
        least = max(least, row[f])
    return least


@kernel()
def refresh_splits(model: Model, selection: Selection, extras: Extras | None, step: int) -> None:
    """Bring the splits up to date with the parameters that an update changed.

    A node is settled once its lead makes entmax give it all the weight: then its logits have
    gradients of exactly zero, and leaving them out changes nothing.
    """
    logits, thresholds = model.tree.logits, model.tree.thresholds
    feature, threshold, settled = (model.tree.feature, model.tree.threshold, model.settled)
    node_of, checked, real = model.node_of, model.checked, threshold.dtype.type
    n_nodes, width = logits.shape
    scale, none = real(0.5 / selection.temperature), real(-np.inf)
    if selection.kind == GUMBEL:
        return  # every batch makes choices of its own
    # After annealing, this unsettles nodes near to one that still moves, and trainings depend on
    # how near: the committed ones were made with blocks of 32.
    near = 32 if selection.kind == ANNEALED else BLOCK
    moved = model.logits.active[: model.logits.n_active[0]]
    for a in range(len(moved)):
        first = moved[a] * BLOCK // near * near
        for node in range(first // width, min((first + near - 1) // width + 1, n_nodes)):
            if checked[node] == step:
                continue
            checked[node] = step
            row, best = logits[node], feature[node]
            runner_up = _largest(row[best + _ONE :], _largest(row[:best], none))
            if runner_up >= row[best]:
                feature[node] = argmax(row)
                threshold[node] = thresholds[node, feature[node]]
            lead = (runner_up - row[best]) * scale
            settled[node] = lead <= real(-1) and selection.kind == ENTMAX
    moved, most = model.thresholds.active[: model.thresholds.n_active[0]], (BLOCK - 2) // width + 2
    for a in range(len(moved)):
        # As many nodes as a block can touch: a loop of one length is never mispredicted.
        for i in range(most):
            node = min(node_of[moved[a]] + i, n_nodes - 1)
            threshold[node] = thresholds[node, feature[node]]
    if extras is not None and selection.kind == ANNEALED and step == extras.anneal_steps:
        settled[:] = True


@kernel()
def choose_plainly(tree: TreeArrays) -> None:
    """Let every node take the feature with its largest logit."""
    for i in range(len(tree.feature)):
        tree.feature[i] = argmax(tree.logits[i])
        tree.threshold[i] = tree.thresholds[i, tree.feature[i]]


@kernel()
def forget(extras: Extras) -> None:
    """Forget the choices of the batch before."""
    for i in range(len(extras.chosen)):
        extras.chosen[i] = False
    extras.n_groups[0] = 0


@kernel()
def note_arrivals(extras: Extras, nodes: Numbers) -> None:
    """Mark nodes where rows have arrived."""
    chosen = extras.chosen
    for b in range(len(nodes)):
        chosen[nodes[b]] = True


@kernel()
def choose_noisily(tree: TreeArrays, extras: Extras, counter: np.uint64, level: int) -> None:
    """Let each marked node of a level take the feature with the largest logit plus noise."""
    logits, feature, threshold = tree.logits, tree.feature, tree.threshold
    fresh, place, groups, key = extras.fresh, extras.place, extras.groups, extras.key
    words, noise, begin = extras.words, extras.noise, extras.n_groups[0]
    thresholds, width, n_groups = tree.thresholds, logits.shape[1], begin
    chosen, n_fresh = extras.chosen, 0
    for node in range((1 << level) - 1, (2 << level) - 1):
        fresh[n_fresh] = node
        n_fresh += chosen[node]
    for v in range(n_fresh):
        first = np.int64(fresh[v]) * width
        group = first // GROUP
        place[fresh[v]] = GROUP * (n_groups - group) + first
        # As many as a node can touch, in whole vectors: what is too much the next one replaces.
        listed = groups[n_groups:]
        for i in range(0, width // GROUP + 2, GROUPS):
            for lane in range(GROUPS):
                listed[i + lane] = group + i + lane
        n_groups += (first + width - 1) // GROUP - group + 1
    for g in range(begin, n_groups, GROUPS):
        draw_words(groups[g:], words, key, counter)
        exact_noise(words, noise[GROUP * g :])
    for v in range(n_fresh):
        node, first = fresh[v], np.int64(place[fresh[v]])
        feature[node] = _noisy_choice(logits[node], noise[first : first + width])
        threshold[node] = thresholds[node, feature[node]]
    extras.n_groups[0] = n_groups


@kernel(fastmath={"nnan", "nsz"})
def _largest_sum(row: Floats, noise: Floats) -> Real:
    largest = row[0] + noise[0]
    for f in range(1, len(row)):
        largest = max(largest, row[f] + noise[f])
    return largest


@kernel()
def _noisy_choice(logits: Floats, noise: Floats) -> np.uint32:
    """Index of the largest logit plus noise, the first one on ties."""
    largest, chosen = _largest_sum(logits, noise), np.uint32(0)
    while chosen + _ONE < len(logits) and logits[chosen] + noise[chosen] < largest:
        chosen += _ONE
    return chosen


@kernel()
def _noisy_exponentials(
    logits: Floats, extras: Extras, nodes: Numbers, temperature: float, weights: Floats
) -> None:
    """Exponentials of the nodes' logits with the noise of this batch."""
    for v in range(len(nodes)):
        row, out, first = logits[nodes[v]], weights[v], np.int64(extras.place[nodes[v]])
        noise = extras.noise[first : first + len(row)]
        for f in range(len(row)):
            out[f] = (row[f] + noise[f]) / out.dtype.type(temperature)
        largest = _largest(out, out[0])
        for f in range(len(row)):
            out[f] = exp(out[f] - largest)


@kernel()
def jacobian_weights(
    tree: TreeArrays,
    selection: Selection,
    extras: Extras | None,
    nodes: Numbers,
    temperature: float,
    weights: Floats,
    totals: Floats,
) -> None:
    """Fill rows of ``weights`` with ``w`` of the selector's Jacobian, ``totals`` with sums.

    With ``g`` the derivative by the selector's output, the derivative by the logits is
    ``w * (g - sum(w * g) / sum(w)) / temperature``, where ``w`` are the square roots of the
    entmax, or the softmax itself.
    """
    logits, feature, width = tree.logits, tree.feature, weights.shape[1]
    real = weights.dtype.type
    if extras is not None and selection.kind == GUMBEL:
        _noisy_exponentials(logits, extras, nodes, temperature, weights)
    for v in range(0 if selection.kind == GUMBEL else len(nodes)):
        node, out = nodes[v], weights[v]
        row = logits[node]
        largest = row[feature[node]]
        if selection.kind == SOFTMAX:
            for f in range(width):
                out[f] = exp((row[f] - largest) / real(temperature))
        else:
            totals[v] = entmax_root(row, largest, temperature, out)
    if selection.kind == SOFTMAX or selection.kind == GUMBEL:
        for v in range(len(nodes)):
            total = real(0)
            for f in range(width):
                total += weights[v, f]
            totals[v] = total
        for v in range(len(nodes)):
            for f in range(width):
                weights[v, f] /= totals[v]
            totals[v] = 1
