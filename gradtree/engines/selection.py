"""Feature selection inside the compiled engine: choices before a batch, weights after it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradtree.compiling import Floats, Numbers, Real, entry_kernel, kernel
from gradtree.engines.arithmetic import exp
from gradtree.engines.entmax import entmax_root
from gradtree.engines.loss_kernels import softmax
from gradtree.engines.state import BLOCK, Model, Recent, TreeArrays, new_recent, new_tree
from gradtree.settings.selectors import SELECTORS, Selector
from gradtree.settings.streams import fill_words, philox
from gradtree.trees.dense import DenseTree

ENTMAX, GUMBEL = SELECTORS["entmax"], SELECTORS["gumbel"]
ANNEALED, SOFTMAX = SELECTORS["annealed"], SELECTORS["softmax"]
_WORD = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ONE = np.uint32(1)
_BEGINNING_BITS = 10
_TO_BEGINNING = np.uint32(32 - _BEGINNING_BITS)
EVALUATION = np.uint64(1 << 62)
"""Counters of the noise in validation batches start here, far from those of training batches."""


class Selection(NamedTuple):
    """A selector: its code in ``SELECTORS``, and what divides the logits."""

    kind: int
    temperature: float


class Extras(NamedTuple):
    """What only some trainings need, so that the loop for all others is compiled without it.

    Kernels get it beside the run, or ``None``: Numba drops a branch on ``extras is None`` before
    it compiles. In a tuple it would not see that.

    For annealed, ``choice`` holds the mixture of features of every node and ``offset`` that of its
    thresholds. For gumbel, ``words`` holds the random words behind the noise of every logit,
    ``bounds`` what ``_gumbel_bounds`` gives, and ``choice`` the noisy logits of one node.
    ``recent`` are the trees of the last epochs and ``average`` their mean. What a training does
    not need is empty.
    """

    final_temperature: float
    anneal_steps: int
    noisy_evaluation: bool
    key: np.uint64
    choice: NDArray[Any]
    offset: NDArray[Any]
    words: Numbers
    bounds: NDArray[Any]
    recent: Recent
    average: TreeArrays


def new_extras(
    selector: Selector, key: np.uint64, start: DenseTree, dtype: Any, averaged_epochs: int
) -> Extras | None:
    """Room for noise, mixtures and averages, if any are needed."""
    if selector.kind not in ("gumbel", "annealed") and not averaged_epochs:
        return None
    logits = start.logits.astype(dtype)
    n_rows = {"gumbel": 1, "annealed": len(logits)}.get(selector.kind, 0)
    noisy = selector.kind == "gumbel"
    return Extras(
        selector.final_temperature,
        selector.anneal_steps,
        selector.noisy_evaluation,
        key,
        np.zeros_like(logits[:n_rows]),
        np.zeros(n_rows, dtype=logits.dtype),
        np.zeros(logits.size * noisy, dtype=np.uint32),
        np.ascontiguousarray(_gumbel_bounds(logits.dtype)[:, : None if noisy else 0]),
        new_recent(start, dtype, averaged_epochs),
        new_tree(start, dtype),
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
def _gumbel(word: int) -> float:
    """The Gumbel variate of a word of 32 bits; it grows with the word."""
    return -math.log(-math.log((np.float64(word) + 0.5) / 4294967296.0))


@entry_kernel()
def fill_gumbel(noise: Floats, key: np.uint64, counter: np.uint64) -> None:
    """Standard Gumbel noise, a function of ``key`` and ``counter`` alone."""
    width = noise.shape[1]
    for i in range(0, noise.size, 4):
        first, second = philox(np.uint64(i >> 2), counter, key)
        words = (first & _WORD, first >> _HALF, second & _WORD, second >> _HALF)
        for lane in range(min(4, noise.size - i)):
            row, column = divmod(i + lane, width)
            noise[row, column] = _gumbel(words[lane])


def _gumbel_bounds(dtype: np.dtype) -> NDArray[Any]:
    """Variates that those of the words with each beginning do not fall below, or rise above."""
    first = np.arange(1 << _BEGINNING_BITS) * 2.0 ** (32 - _BEGINNING_BITS)
    last = first + 2.0 ** (32 - _BEGINNING_BITS) - 1
    ends = -np.log(-np.log((np.stack([first, last]) + 0.5) / 2.0**32))
    return (ends + np.array([[-1e-6], [1e-6]])).astype(dtype)


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
    checked, moved = model.checked, model.logits.active[: model.logits.n_active[0]]
    n_nodes, width = logits.shape
    real = threshold.dtype.type
    scale, none = real(0.5 / selection.temperature), real(-np.inf)
    for a in range(0 if selection.kind == GUMBEL else len(moved)):
        first = moved[a] * BLOCK
        for node in range(first // width, min((first + BLOCK - 1) // width + 1, n_nodes)):
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
    moved = model.thresholds.active[: model.thresholds.n_active[0]]
    for a in range(len(moved)):
        first = moved[a] * BLOCK
        for node in range(first // width, min((first + BLOCK - 1) // width + 1, n_nodes)):
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
def choose_noisily(tree: TreeArrays, extras: Extras, counter: np.uint64) -> None:
    """Let every node take the feature with the largest logit plus noise of ``fill_gumbel``.

    Logarithms are taken only where bounds from a table leave more than one feature.
    """
    fill_words(extras.words, extras.key, counter)
    least, most = extras.bounds[0], extras.bounds[1]
    width = tree.logits.shape[1]
    for node in range(len(tree.feature)):
        row, words = tree.logits[node], extras.words[node * width : (node + 1) * width]
        floor = row[0] + least[words[0] >> _TO_BEGINNING]
        for f in range(1, width):
            floor = max(floor, row[f] + least[words[f] >> _TO_BEGINNING])
        candidates, chosen = 0, 0
        for f in range(width):
            if row[f] + most[words[f] >> _TO_BEGINNING] >= floor:
                candidates += 1
                chosen = f
        if candidates > 1:
            chosen = _largest_sum(row, words, most, floor)
        tree.feature[node] = chosen
        tree.threshold[node] = tree.thresholds[node, chosen]


@kernel()
def _largest_sum(row: Floats, words: Numbers, most: Floats, floor: Real) -> int:
    """Index of the largest logit plus noise, the first one on ties."""
    chosen, largest = -1, floor
    for f in range(len(row)):
        if row[f] + most[words[f] >> _TO_BEGINNING] >= floor:
            noisy = row[f] + row.dtype.type(_gumbel(words[f]))
            if chosen < 0 or noisy > largest:
                chosen, largest = f, noisy
    return chosen


@kernel()
def _mix(tree: TreeArrays, extras: Extras, temperature: float) -> None:
    for i in range(len(tree.feature)):
        row = tree.logits[i]
        mixture = extras.choice[i]
        entmax_root(row, row[argmax(row)], temperature, mixture)
        offset = mixture.dtype.type(0)
        for f in range(len(row)):
            mixture[f] *= mixture[f]
            offset += mixture[f] * tree.thresholds[i, f]
        extras.offset[i] = offset


@kernel()
def choose(tree: TreeArrays, selection: Selection, extras: Extras, step: int) -> None:
    """What every node tests in the batch of this step. For entmax the tree already knows."""
    if selection.kind == GUMBEL:
        choose_noisily(tree, extras, np.uint64(step))
    elif is_soft(selection, extras, step):
        _mix(tree, extras, temperature_at(selection, extras, step))


@kernel()
def _noisy_weights(
    tree: TreeArrays, extras: Extras, node: int, temperature: float, weights: Floats
) -> None:
    """The softmax of a node's logits with the noise of this batch."""
    noisy, logits = extras.choice[0], tree.logits[node]
    words = extras.words[node * len(logits) : (node + 1) * len(logits)]
    for f in range(len(noisy)):
        noisy[f] = logits[f] + noisy.dtype.type(_gumbel(words[f]))
        noisy[f] /= noisy.dtype.type(temperature)
    softmax(noisy, weights)


@kernel()
def jacobian_weights(
    tree: TreeArrays,
    selection: Selection,
    extras: Extras | None,
    node: int,
    temperature: float,
    weights: Floats,
) -> Real:
    """Fill ``weights`` with ``w`` of the selector's Jacobian and give the sum of ``w``.

    With ``g`` the derivative by the selector's output, the derivative by the logits is
    ``w * (g - sum(w * g) / sum(w)) / temperature``, where ``w`` are the square roots of the
    entmax, or the softmax itself.
    """
    if extras is not None and selection.kind == GUMBEL:
        _noisy_weights(tree, extras, node, temperature, weights)
        return weights.dtype.type(1)
    row = tree.logits[node]
    largest = row[tree.feature[node]]
    if selection.kind == SOFTMAX:
        total = weights.dtype.type(0)
        for f in range(len(row)):
            weights[f] = exp((row[f] - largest) / row.dtype.type(temperature))
            total += weights[f]
        for f in range(len(row)):
            weights[f] /= total
        return weights.dtype.type(1)
    return entmax_root(row, largest, temperature, weights)
