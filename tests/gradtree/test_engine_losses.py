"""The losses by their formulas, computed here once more; those of numbers by differences and in
both engines too, as ``test_engine_gradients.py`` has those of classes.
"""

import itertools

import numpy as np
import pytest
from engine_runs import GROUPS, LOSSES, SELECTORS, begin, random_tree, rows_of
from scipy.special import expit, softmax

from gradtree.settings.config import TrainConfig
from gradtree.settings.losses import NUMBER_LOSSES, CustomLoss, Loss, NumberLoss
from gradtree.trees.dense import DenseTree


def of_the_truth(p, y):
    return p[np.arange(len(y)), y]


def by_formula(loss: Loss, output: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Loss of every sample, with the quirks of the authors' Poly-1 term."""
    binary = output.ndim == 1
    both = np.stack([expit(-output), expit(output)], 1) if binary else softmax(output, axis=1)
    p_true = of_the_truth(both, y)
    value = -np.log(p_true)
    if loss.kind == "focal" and not binary:
        clipped = np.clip(both, 1e-7, 1 - 1e-7)
        value = -np.log(of_the_truth(clipped, y) / clipped.sum(axis=1))
    if loss.kind == "focal":
        value = value * (1 - p_true) ** loss.gamma
    if loss.poly_epsilon is None:
        return value
    if binary:
        twice = expit(expit(output))
        again = np.where(y == 1, twice, 1 - twice)
    else:
        again = y if loss.kind == "focal" else of_the_truth(softmax(both, axis=1), y)
    return value + loss.poly_epsilon * (1 - again)


def drawn(n_classes):
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 3, 4, n_classes, "float64")
    return tree, rng.normal(size=(40, 4)), rng.integers(0, n_classes, 40)


def gradients(tree, X, y, loss, engine, weight=None, selector="entmax", dtype="float64"):
    settings = {"dtype": dtype, "engine": engine, "selector": SELECTORS[selector], "epochs": 1}
    config = TrainConfig(depth=tree.depth, loss=loss, **settings)
    return begin(tree, rows_of(X, y, dtype, weight), config).gradients(1)


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "custom"])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("engine", ["compiled", "tensorflow"])
def test_the_value_is_that_of_the_formula(name, n_classes, engine):
    if engine == "tensorflow":
        pytest.importorskip("tensorflow")
    tree, X, y = drawn(n_classes)
    value, _ = gradients(tree, X, y, LOSSES[name], engine)
    expected = by_formula(LOSSES[name], tree.leaves[tree.leaf_of(X)], y).mean()
    assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("name", LOSSES)
def test_whole_weights_are_as_good_as_repeated_rows(n_classes, name):
    tree, X, y = drawn(n_classes)
    times = np.arange(len(X)) % 4 + 1
    value, slopes = gradients(tree, X, y, LOSSES[name], "compiled", weight=times.astype(float))
    repeated, expected = gradients(
        tree, np.repeat(X, times, axis=0), np.repeat(y, times), LOSSES[name], "compiled"
    )
    assert value == pytest.approx(repeated, rel=1e-12)
    for group in GROUPS:
        np.testing.assert_allclose(getattr(slopes, group), getattr(expected, group), atol=1e-14)


def test_unknown_losses_and_exponents_below_one_are_refused():
    with pytest.raises(ValueError, match=r"'hinge'.*CustomLoss"):
        Loss("hinge")
    with pytest.raises(ValueError, match="gamma >= 1"):
        Loss("focal", gamma=0.5)


# Of numbers


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


def drawn_numbers(kind: str, n_targets: int, seed: int = 0, dtype: str = "float64", depth: int = 3):
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


def number_by_formula(kind: str, loss: NumberLoss, output: np.ndarray) -> np.ndarray:
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
def test_the_loss_of_numbers_is_that_of_the_formula_and_slopes_are_its_differences(kind, n_targets):
    tree, X, loss = drawn_numbers(kind, n_targets)
    weight = np.arange(len(X)) % 3 + 0.5
    value, slopes = gradients(tree, X, np.arange(40), loss, "compiled", weight)
    leaf = tree.leaf_of(X)

    def mean_loss(leaves):
        return np.average(number_by_formula(kind, loss, leaves[leaf]), weights=weight)

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
def test_both_engines_have_the_same_gradients_of_numbers(kind, n_targets):
    pytest.importorskip("tensorflow")
    # Each second one for each second case: together they pass all selectors in both precisions.
    cases = list(enumerate(itertools.product(TOLERANCE, SELECTORS)))
    for seed, (dtype, selector) in cases[CASES.index((kind, n_targets)) % 2 :: 2]:
        tree, X, loss = drawn_numbers(kind, n_targets, seed, dtype, depth=1 + seed % 6)
        weight = np.arange(len(X)) % 4 + 0.5 if seed % 2 else None
        (value, slopes), (expected_value, expected) = (
            gradients(tree, X, np.arange(40), loss, engine, weight, selector, dtype)
            for engine in ("compiled", "tensorflow")
        )
        assert value == pytest.approx(expected_value, rel=TOLERANCE[dtype])
        for group in GROUPS:
            ours, theirs = getattr(slopes, group), getattr(expected, group)
            allowed = TOLERANCE[dtype] * np.abs(theirs).max()
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=allowed, err_msg=group)
