"""The losses of numbers: by their formulas, by differences, and in both engines."""

import itertools

import numpy as np
import pytest
from engine_runs import GROUPS, SELECTORS, begin, random_tree, rows_of

from gradtree.settings.config import TrainConfig
from gradtree.settings.losses import NUMBER_LOSSES, CustomLoss, NumberLoss
from gradtree.trees.dense import DenseTree

TOLERANCE = {"float64": 1e-10, "float32": 1e-4}
SETTING = {"huber": 0.7, "quantile": 0.2}


def log_cosh(prediction, target, gradient):
    """A loss of one's own: smooth, nearly absolute."""
    loss = 0.0
    for k in range(len(prediction)):
        off = prediction[k] - target[k]
        gradient[k] = np.tanh(off)
        loss += np.log(np.cosh(off))
    return loss


KINDS = [*NUMBER_LOSSES, "own"]
CASES = list(itertools.product(KINDS, (1, 2, 3)))


def drawn(kind: str, n_targets: int, seed: int = 0, dtype: str = "float64", depth: int = 3):
    """A tree, rows, and a loss with their targets."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, depth, 4, n_targets if n_targets > 1 else 2, dtype)
    if n_targets == 2:
        tree = DenseTree(tree.thresholds, tree.logits, rng.normal(size=(2**depth, 2)).astype(dtype))
    X, targets = rng.normal(size=(40, 4)), rng.gamma(2.0, 3.0, size=(40, n_targets))
    shift, scale = np.full(n_targets, 5.0), np.full(n_targets, 3.0)
    if kind == "poisson":
        shift, targets = np.zeros(n_targets), np.floor(targets)
    own = CustomLoss(log_cosh) if kind == "own" else None
    name = "squared_error" if own else kind
    return tree, X, NumberLoss(name, SETTING.get(kind, 1.7), targets, shift, scale, own)


def gradients(tree, X, loss, engine, weight=None, selector="entmax", dtype="float64"):
    config = TrainConfig(
        depth=tree.depth,
        loss=loss,
        dtype=dtype,
        engine=engine,
        epochs=1,
        selector=SELECTORS[selector],
    )
    return begin(tree, rows_of(X, np.arange(len(X)), dtype, weight), config).gradients(1)


def by_formula(kind: str, loss: NumberLoss, output: np.ndarray) -> np.ndarray:
    """Loss of every row."""
    output = output.reshape(loss.targets.shape)
    target = (loss.targets - loss.shift) / loss.scale
    off, near = output - target, np.abs(output - target) <= loss.setting
    parts = {
        "squared_error": off**2 / 2,
        "absolute_error": np.abs(off),
        "huber": np.where(near, off**2 / 2, loss.setting * (np.abs(off) - loss.setting / 2)),
        "quantile": np.where(off < 0, -loss.setting * off, (1 - loss.setting) * off),
        "poisson": np.exp(output) - target * output,
        "own": np.log(np.cosh(off * loss.scale)) * loss.targets.shape[1] / loss.setting,
    }
    return parts[kind].mean(axis=1)


@pytest.mark.parametrize(("kind", "n_targets"), CASES)
def test_the_value_is_that_of_the_formula_and_slopes_are_its_differences(kind, n_targets):
    tree, X, loss = drawn(kind, n_targets)
    weight = np.arange(len(X)) % 3 + 0.5
    value, slopes = gradients(tree, X, loss, "compiled", weight)
    leaf = tree.leaf_of(X)

    def mean_loss(leaves):
        return np.average(by_formula(kind, loss, leaves[leaf]), weights=weight)

    assert value == pytest.approx(mean_loss(tree.leaves), rel=1e-12)
    step = 1e-6
    for index in np.ndindex(tree.leaves.shape):
        around = []
        for sign in (1, -1):
            leaves = tree.leaves.copy()
            leaves[index] += sign * step
            around.append(mean_loss(leaves))
        difference = (around[0] - around[1]) / (2 * step)
        assert slopes.leaves[index] == pytest.approx(difference, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(("kind", "n_targets"), CASES)
def test_both_engines_have_the_same_gradients(kind, n_targets):
    pytest.importorskip("tensorflow")
    # Each second one for each second case: together they pass all selectors in both precisions.
    cases = list(enumerate(itertools.product(TOLERANCE, SELECTORS)))
    for seed, (dtype, selector) in cases[CASES.index((kind, n_targets)) % 2 :: 2]:
        tree, X, loss = drawn(kind, n_targets, seed, dtype, depth=1 + seed % 6)
        weight = np.arange(len(X)) % 4 + 0.5 if seed % 2 else None
        (value, slopes), (expected_value, expected) = (
            gradients(tree, X, loss, engine, weight, selector, dtype)
            for engine in ("compiled", "tensorflow")
        )
        assert value == pytest.approx(expected_value, rel=TOLERANCE[dtype])
        for group in GROUPS:
            ours, theirs = getattr(slopes, group), getattr(expected, group)
            allowed = TOLERANCE[dtype] * np.abs(theirs).max()
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=allowed, err_msg=group)
