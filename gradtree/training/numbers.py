"""Trees of numbers: what leaves predict, what they cost, and how good a run is.

Everything here is in the units of the targets; losses are in the scale of training.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import xlogy
from scipy.stats import chi2
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer

from gradtree.engines.contract import Samples
from gradtree.settings.config import FinishConfig, TrainConfig
from gradtree.settings.losses import NumberLoss
from gradtree.training.finishing import REAL, Grown, shaped
from gradtree.training.own_loss import own_losses
from gradtree.trees.dense import DenseTree
from gradtree.trees.polish import SMOOTHING, LossesAt, rows_by_node
from gradtree.trees.pruning import pruned_tree
from gradtree.trees.regression_tree import RegressionTree
from gradtree.trees.tree import LEAF, Tree
from gradtree.typing import Array, Floats, Places

# Rows are predicted by leaves of other rows, in so many folds.
FOLDS = 5
# A robust standard deviation is the median distance from the median times this.
NORMAL = 1.4826
# Rates count as no less than this part of the mean in the loss of counts.
SMALLEST_RATE = 1e-9
# A loss of one's own is minimised in at most so many steps.
STEPS = 60


def number_loss(kind: str, setting: float, y: Floats, weight: Floats, own: Any) -> NumberLoss:
    """A loss with the targets of all rows, and the scale that these have in training."""
    if kind == "poisson":
        shift, scale = np.zeros(y.shape[1]), np.average(y, axis=0, weights=weight)
    elif kind == "squared_error" and own is None:
        shift = np.average(y, axis=0, weights=weight)
        scale = np.sqrt(np.average((y - shift) ** 2, axis=0, weights=weight))
    else:
        shift = weighted_quantile(y, weight, setting if kind == "quantile" else 0.5)
        scale = NORMAL * weighted_quantile(np.abs(y - shift), weight, 0.5)
        scale = np.where(scale > 0, scale, y.std(axis=0))
    # What differs by rounding alone is constant.
    scale = np.where(scale > 1e-12 * np.abs(y).max(axis=0), scale, 1.0)
    loss = NumberLoss(kind, setting, y, shift, scale, own)
    if own is None:
        return loss
    whole = replace(loss, setting=1.0)
    unit = abs(np.average(row_losses(whole, best_value(whole, y, weight), y), weights=weight))
    return replace(loss, setting=float(unit) if unit > 0 else 1.0)


def row_losses(loss: NumberLoss, value: Floats, y: Floats) -> Floats:
    """The loss of every row that is predicted so; ``value`` may be one for all."""
    if loss.own is not None:
        return own_losses(loss.own, np.broadcast_to(value, y.shape), y)[0] / loss.setting
    off = (value - y) / loss.scale
    if loss.kind == "poisson":
        target, rate = y / loss.scale, np.maximum(value / loss.scale, SMALLEST_RATE)
        parts = xlogy(target, target / rate) - target + rate
    elif loss.kind == "quantile":
        parts = 0.5 * np.abs(off) + (0.5 - loss.setting) * off
    elif loss.kind == "absolute_error":
        parts = np.abs(off)
    elif loss.kind == "huber":
        near = np.clip(off, -loss.setting, loss.setting)
        parts = near * (off - 0.5 * near)
    else:
        parts = 0.5 * off**2
    return np.asarray(parts.mean(axis=1))


def best_value(loss: NumberLoss, y: Floats, weight: Floats) -> Floats:
    """The numbers with which these rows have the lowest loss, one per target."""
    if loss.own is not None:
        return _descended(loss, y, weight)
    if loss.kind in ("absolute_error", "quantile"):
        return weighted_quantile(y, weight, loss.setting if loss.kind == "quantile" else 0.5)
    if loss.kind == "huber":
        reach = loss.setting * loss.scale
        return np.array([_huber_centre(*c, weight) for c in zip(y.T, reach, strict=True)])
    return np.asarray(np.average(y, axis=0, weights=weight))


def weighted_quantile(y: Floats, weight: Floats, share: float) -> Floats:
    """A quantile of every column, the middle of two numbers where both are one."""
    order = np.argsort(y, axis=0, kind="stable")
    ordered, ends = np.take_along_axis(y, order, axis=0), np.cumsum(weight[order], axis=0)
    wanted = share * ends[-1] * (1 - 1e-12), share * ends[-1] * (1 + 1e-12)
    places = [np.minimum((ends < at).sum(axis=0), len(y) - 1) for at in wanted]
    low, high = (np.take_along_axis(ordered, at[np.newaxis], axis=0)[0] for at in places)
    return np.asarray(low / 2 + high / 2)


def _huber_centre(y: Floats, reach: float, weight: Floats) -> float:
    low, high = float(y.min()), float(y.max())
    if low == high:
        return low
    slope = lambda at: weight @ np.clip(y - at, -reach, reach)  # noqa: E731
    return float(brentq(slope, low, high, xtol=1e-12 * (high - low)))


def _descended(loss: NumberLoss, y: Floats, weight: Floats) -> Floats:
    """Where a descent of the user's loss ends that begins at the mean or the median."""
    assert loss.own is not None
    own = loss.own

    def total(scaled: Floats) -> tuple[float, Floats]:
        losses, slopes = own_losses(own, np.broadcast_to(loss.unscaled(scaled), y.shape), y)
        return float(weight @ losses), loss.scale * (weight @ slopes)

    tried = [np.average(y, axis=0, weights=weight), weighted_quantile(y, weight, 0.5)]
    tried = [loss.scaled(value) for value in tried]
    start = min(tried, key=lambda value: total(value)[0])
    found = minimize(total, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return loss.unscaled(min([start, found.x], key=lambda value: total(value)[0]))


def group_values(
    loss: NumberLoss, y: Floats, weight: Floats, group: Places, n_groups: int, smoothing: float
) -> Floats:
    """What suits every group of rows best, if rows with the best of all rows join each."""
    whole = best_value(loss, y, weight)
    values = np.tile(whole, (n_groups, 1))
    order = np.argsort(group, kind="stable")
    ends = np.searchsorted(group[order], np.arange(n_groups + 1))
    for place in np.flatnonzero(np.diff(ends)).tolist():
        rows = order[ends[place] : ends[place + 1]]
        values[place] = _joined(loss, y[rows], weight[rows], whole, smoothing)
    return values


def _joined(loss: NumberLoss, y: Floats, weight: Floats, value: Floats, smoothing: float) -> Floats:
    """What suits rows best together with so many of a given value."""
    if smoothing > 0:
        y, weight = np.vstack([y, value]), np.append(weight, smoothing)
    return best_value(loss, y, weight)


@dataclass(frozen=True, eq=False)
class GrownNumbers(Grown):
    """A tree of numbers with its final values, before anything is priced."""

    def has_real_split(self) -> bool:
        """Whether some split lowers the loss more than chance does (likelihood-ratio test)."""
        tree, cost = self.tree, self.cost
        assert cost is not None
        assert tree.n_node_samples is not None
        splits = np.flatnonzero(tree.children_left != LEAF)
        after = cost[tree.children_left[splits]] + cost[tree.children_right[splits]]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = tree.n_node_samples[splits] * np.log(cost[splits] / after)
        chance = chi2.sf(np.nan_to_num(ratio, nan=0.0), tree.value.shape[1])
        return bool((chance * len(splits) < REAL).any())


@dataclass(frozen=True, eq=False)
class NumberRows:
    """All rows that a fit has seen, with their numbers; also what they lose at leaves."""

    X: Array
    y: Floats  # (rows, n_targets)
    weight: Floats
    loss: NumberLoss

    def unit(self, tree: Tree) -> float:
        alone = best_value(self.loss, self.y, self.weight)
        return abs(float(self.weight @ row_losses(self.loss, alone, self.y)))

    def at(self, tree: Tree, leaf: Places) -> LossesAt:
        known = self.y, self.weight
        value = group_values(self.loss, *known, leaf, tree.node_count, SMOOTHING)
        return lambda leaves, rows: (
            self.weight[rows] * row_losses(self.loss, value[leaves], self.y[rows])
        )

    def grow(self, dense: DenseTree, config: FinishConfig) -> Grown:
        """The tree of trained parameters, its leaves refitted on all rows."""
        shape, _ = pruned_tree(dense, self.X)
        tree: Tree = RegressionTree.of(shape, np.zeros((shape.node_count, self.y.shape[1])))
        tree = shaped(tree, self.X, self if config.polish else None, config.ccp_alpha, config)
        return self.with_values(tree, tree.apply(self.X), config.smoothing)

    def improved(self, grown: Grown, depth: int, config: FinishConfig) -> Grown:
        """The tree as it is: its splits keep their features."""
        return grown

    def with_values(self, tree: Tree, leaf: Places, smoothing: float) -> Grown:
        """The tree whose nodes say what suits the rows best that reach them through these leaves.

        A node that no row reaches says what its parent says.
        """
        reach = rows_by_node(tree, leaf)
        parent = np.zeros(tree.node_count, dtype=np.intp)
        inner = np.flatnonzero(tree.children_left != LEAF)
        parent[tree.children_left[inner]] = parent[tree.children_right[inner]] = inner
        value, cost = np.empty((tree.node_count, self.y.shape[1])), np.zeros(tree.node_count)
        value[0] = best_value(self.loss, self.y, self.weight)
        for node in range(tree.node_count):
            y, weight = self.y[reach[node]], self.weight[reach[node]]
            if node:
                value[node] = above = value[parent[node]]
                if len(y):
                    value[node] = _joined(self.loss, y, weight, above, smoothing)
            if len(y):
                suited = value[node] if smoothing == 0 else best_value(self.loss, y, weight)
                cost[node] = weight @ row_losses(self.loss, suited, y)
        sums = np.array([[self.weight[rows].sum()] for rows in reach])
        counts = np.array([len(rows) for rows in reach])
        whole = abs(cost[0]) if cost[0] != 0 else 1.0
        grown = replace(tree, value=value, n_node_samples=counts)
        return GrownNumbers(grown, sums, cost / whole)


class _Answers(RegressorMixin, BaseEstimator):
    """Predictions that are known already, as the model that a scorer asks."""

    def __init__(self, told: Floats) -> None:
        self.told = told

    def predict(self, X: Any) -> Any:
        return self.told[:, 0] if self.told.shape[1] == 1 else self.told


def judged_numbers(
    dense: DenseTree, train: Samples, valid: Samples, config: TrainConfig
) -> tuple[float, float, float]:
    """How good a tree of numbers is, what ties go by, and the standard error of the first.

    As in ``choosing``, the sum of two scores: of the validation rows by leaves of the training
    rows, and of all rows, each by leaves of rows of other folds. The score is the loss, negative,
    or one of scikit-learn's, whose error is not known and counts as 0.
    """
    loss = config.loss
    assert isinstance(loss, NumberLoss)
    samples = [part for part in (train, valid) if len(part.rows)]
    leaf = np.concatenate([dense.leaf_of(part.X, part.rows) for part in samples])
    y = np.concatenate([loss.targets[part.y[part.rows]] for part in samples])
    weight = np.concatenate([np.asarray(part.weight, float)[part.rows] for part in samples])
    held_out = np.arange(len(y)) >= len(train.rows)
    fold = np.random.default_rng(0).permutation(len(y)) % min(FOLDS, len(y))
    score, tie, error = 0.0, 0.0, 0.0
    for groups in (
        [held_out] if held_out.any() else [],
        [fold == f for f in range(fold.max() + 1)],
    ):
        if not groups:
            continue
        told = np.zeros_like(y)
        for asked in groups:
            others = y[~asked], weight[~asked], leaf[~asked]
            values = group_values(loss, *others, len(dense.leaves), config.smoothing)
            told[asked] = values[leaf[asked]]
        rows = np.logical_or.reduce(groups)
        losses = row_losses(loss, told[rows], y[rows])
        mean = float(np.average(losses, weights=weight[rows]))
        tie -= mean
        if isinstance(config.choose_by, str) and config.choose_by == "auto":
            score -= mean
            error += float(losses.std() / np.sqrt(len(losses)))
        else:
            more = {} if np.ptp(weight) == 0 else {"sample_weight": weight[rows]}
            truth = y[rows, 0] if y.shape[1] == 1 else y[rows]
            found = float(get_scorer(config.choose_by)(_Answers(told[rows]), None, truth, **more))
            score += found if np.isfinite(found) else 0.0
    return score, tie, error
