"""The compiled engine has the gradients of the TensorFlow reference.

An error is measured against the largest entry of the same matrix. Where all samples are saturated,
nothing but rounding may be left of a gradient; so a tenth of the rounding of a probability, times
what leaves and features make of it, is not counted as an error.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from engine_runs import GROUPS, LOSSES, SELECTORS, begin, finish, random_tree, rows_of
from numpy.typing import NDArray

from gradtree.settings.config import TrainConfig
from gradtree.settings.losses import CustomLoss, Loss
from gradtree.settings.selectors import Selector
from gradtree.settings.splits import SPLITS
from gradtree.trees.dense import DenseTree

TOLERANCE = {"float64": 1e-10, "float32": 1e-4}
HARD = Selector("annealed", anneal_steps=1)
PHASES = SELECTORS | {"annealed-hard": HARD}
SLOPES = list(itertools.product(SPLITS, (1.0, 2.0)))
"""Split functions with their steepness; tests pass through them in turn."""
STEP = 3
"""Batch whose gradients are compared: ``annealed`` mixes features in it, ``HARD`` does not."""


@dataclass(frozen=True)
class Problem:
    tree: DenseTree
    X: NDArray[Any]
    y: NDArray[np.int64]
    weight: NDArray[Any] | None = None


def problem(depth: int, n_features: int, n_classes: int, n_rows: int, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    tree = random_tree(rng, depth, n_features, n_classes, "float64")
    return Problem(tree, X, rng.integers(0, n_classes, n_rows))


def cast(case: Problem, dtype: str) -> Problem:
    tree = DenseTree(*(getattr(case.tree, group).astype(dtype) for group in GROUPS))
    return replace(case, tree=tree, X=case.X.astype(dtype))


def ties(case: Problem) -> Problem:
    """Rows exactly on the thresholds of the root or of another node."""
    node = np.arange(len(case.X)) // 2 % len(case.tree.thresholds)
    node[::2] = 0
    # A clear winner per node: of mixed thresholds and features only rounding would be left.
    logits = 1000 * (case.tree.logits == case.tree.logits.max(axis=1, keepdims=True))
    tree = replace(case.tree, logits=logits.astype(float) + 0.01 * case.tree.logits)
    return replace(case, tree=tree, X=case.tree.thresholds[node])


def changed(case: Problem, **parts: Any) -> Problem:
    return replace(case, tree=replace(case.tree, **parts))


def one_feature(case: Problem) -> Problem:
    tree = DenseTree(case.tree.thresholds[:, :1], case.tree.logits[:, :1], case.tree.leaves)
    return replace(case, tree=tree, X=case.X[:, :1])


INPUTS: dict[str, Callable[[Problem], Problem]] = {
    "random": lambda case: case,
    "ties": ties,
    "equal-logits": lambda case: changed(case, logits=np.full_like(case.tree.logits, 0.3)),
    "half-equal-logits": lambda case: changed(case, logits=np.round(case.tree.logits)),
    "huge-logits": lambda case: changed(case, logits=1e8 * np.round(case.tree.logits)),
    "huge-leaves": lambda case: changed(case, leaves=300 * case.tree.leaves),
    "huge-features": lambda case: replace(case, X=1e4 * case.X),
    "one-feature": one_feature,
    "duplicate-rows": lambda case: replace(case, X=case.X[np.arange(len(case.X)) // 5]),
    "weighted": lambda case: replace(case, weight=np.arange(len(case.X)) % 4 + 0.5),
}


def gradients(
    case: Problem,
    loss: Loss | CustomLoss,
    selector: Selector,
    engine: str,
    slope: tuple[str, float] = ("sigmoid", 1.0),
) -> tuple[float, DenseTree]:
    still = {"epochs": 1, "lr_index": 0.0, "lr_values": 0.0, "lr_leaf": 0.0}
    given = {"loss": loss, "selector": selector, "split": slope[0], "steepness": slope[1]}
    dtype = case.X.dtype.name
    config = TrainConfig(depth=case.tree.depth, engine=engine, dtype=dtype, **given, **still)
    run = begin(case.tree, rows_of(case.X, case.y, config.dtype, case.weight), config)
    if selector is HARD and engine == "compiled":
        finish(run)  # Without learning rates this only ends the phase of mixing.
    return run.gradients(STEP)


def assert_equal_gradients(
    case: Problem, loss: Loss | CustomLoss, selector: Selector, turn: int
) -> None:
    slope = SLOPES[turn % len(SLOPES)]
    (value, slopes), (expected_value, expected) = (
        gradients(case, loss, selector, engine, slope) for engine in ("compiled", "tensorflow")
    )
    dtype = case.X.dtype.name
    tolerance, rounding = TOLERANCE[dtype], 0.1 * np.finfo(dtype).eps
    span = np.abs(case.tree.leaves).max()
    reach = np.abs(case.X).max() + np.abs(case.tree.thresholds).max()
    factors = {"leaves": 1.0, "thresholds": span, "logits": span * reach}
    assert abs(value - expected_value) <= tolerance * abs(expected_value) + rounding
    for group in GROUPS:
        ours, theirs = getattr(slopes, group), getattr(expected, group)
        assert np.isfinite(theirs).all()
        if group == "logits" and ours.shape[1] == 1:
            # One feature leaves no choice: the exact gradient is 0, TensorFlow's a rounding of it.
            assert not ours.any()
            continue
        allowed = tolerance * np.abs(theirs).max() + rounding * factors[group]
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=allowed, err_msg=group)


@pytest.fixture(autouse=True, scope="module")
def _reference():
    pytest.importorskip("tensorflow")


COMBINATIONS = list(itertools.product(LOSSES, PHASES))


@pytest.mark.parametrize("depth", range(1, 11))
def test_every_depth_loss_and_selector(depth):
    for number, (loss, selector) in enumerate(COMBINATIONS):
        # Together the ten depths pass all numbers of classes from 2 to 26.
        n_classes = 2 + (number + 3 * depth) % 25
        case = problem(depth, 1 + number % 9, n_classes, 16, seed=100 * depth + number)
        assert_equal_gradients(case, LOSSES[loss], PHASES[selector], turn=number + depth)


@pytest.mark.parametrize("inputs", INPUTS)
def test_all_inputs_with_every_loss_and_selector(inputs):
    """In single and double precision by turns, for two classes and for three."""
    place = list(INPUTS).index(inputs)
    for number, (loss, selector) in enumerate(COMBINATIONS):
        dtype = list(TOLERANCE)[(number + number // 2 + place) % 2]
        plain = cast(problem(3, 4, 2 + number % 2, 16, seed=number), dtype)
        case = cast(INPUTS[inputs](plain), dtype)
        turn = number + place + (dtype == "float32")
        assert_equal_gradients(case, LOSSES[loss], PHASES[selector], turn)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_trained_trees_some_of_whose_features_are_settled(n_classes):
    """Entmax leaves nothing to other features behind a lead of two; leads begin on both sides."""
    case = problem(3, 5, n_classes, 60, seed=1)
    logits = np.zeros((7, 5))
    logits[np.arange(7), np.arange(7) % 5] = np.linspace(1.73, 2.33, 7)
    config = TrainConfig(depth=3, lr_index=1e-4, epochs=5, dtype="float64", restarts=0)
    begun = begin(replace(case.tree, logits=logits), rows_of(case.X, case.y, "float64"), config)
    run = finish(begun)
    trained = replace(case, tree=run.result())
    assert (trained.tree.logits != logits).any()
    _, slopes = run.gradients(1000)
    _, expected = gradients(trained, Loss(), Selector("entmax"), "tensorflow")
    moving = expected.logits.any(axis=1)
    assert 1 < moving.sum() < 6
    for group in GROUPS:
        theirs = getattr(expected, group)
        atol = 1e-10 * np.abs(theirs).max()
        np.testing.assert_allclose(getattr(slopes, group), theirs, rtol=0, atol=atol)


def own_cross_entropy(p, label, gradient):
    gradient[label] = -1.0 / p[label]
    return -np.log(p[label])


@pytest.mark.parametrize("engine", ["compiled", "tensorflow"])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_a_loss_of_ones_own_is_differentiated_like_a_built_in_one(engine, n_classes):
    case = problem(4, 3, n_classes, 30, seed=2)
    value, slopes = gradients(case, CustomLoss(own_cross_entropy), SELECTORS["entmax"], engine)
    expected_value, expected = gradients(case, Loss(), SELECTORS["entmax"], engine)
    assert value == pytest.approx(expected_value, rel=1e-12)
    for group in GROUPS:
        np.testing.assert_allclose(getattr(slopes, group), getattr(expected, group), atol=1e-13)
