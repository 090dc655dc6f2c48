"""The losses by their formulas, computed here once more; their derivatives are those of TensorFlow
(``test_engine_gradients.py``)."""

import numpy as np
import pytest
from engine_runs import GROUPS, LOSSES, begin, random_tree, rows_of
from scipy.special import expit, softmax

from gradtree.settings.config import TrainConfig
from gradtree.settings.losses import Loss


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


def gradients(tree, X, y, loss, engine, weight=None):
    config = TrainConfig(depth=tree.depth, loss=loss, dtype="float64", engine=engine, epochs=1)
    return begin(tree, rows_of(X, y, "float64", weight), config).gradients(1)


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
