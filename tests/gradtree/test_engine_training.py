"""The rules of a training: batches, validation, stopping, restarts, averages, warm starts."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from engine_runs import GROUPS, LOSSES, SELECTORS
from numpy.typing import NDArray

from gradtree.training.train import TrainConfig, TrainResult, train
from gradtree.trees.dense import DenseTree

QUICK = TrainConfig(depth=4, lr_leaf=0.05, epochs=20, patience=20, restarts=0)


def noisy_rows(n_rows: int, n_classes: int, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Classes in slices along one feature, with noise: trees overfit, validation losses rise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).astype(np.float32)
    score = X[:, 0] + 0.7 * rng.normal(size=n_rows)
    edges = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return X, np.searchsorted(edges, score)


def fit(config: TrainConfig, n_classes: int = 2, n_rows: int = 100, **more: Any) -> TrainResult:
    X, y = noisy_rows(n_rows, n_classes)
    X_valid, y_valid = noisy_rows(70, n_classes, seed=1)
    return train(X, y, X_valid, y_valid, n_classes, config, **more)


def assert_identical(one: DenseTree, other: DenseTree) -> None:
    for group in GROUPS:
        np.testing.assert_array_equal(getattr(one, group), getattr(other, group))


def binary_loss(tree: DenseTree, X: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """Cross-entropy of every row."""
    output = tree.leaves[tree.leaf_of(X)].astype(np.float64)
    return np.logaddexp(0, np.where(y == 1, -output, output))


# Two engines

PAIRS = [
    ("cross-entropy", "entmax", 2, "float64"),
    ("focal", "entmax", 3, "float64"),
    ("cross-entropy-poly", "gumbel", 2, "float64"),
    ("focal-poly", "annealed", 2, "float64"),
    ("custom", "annealed", 5, "float64"),
    ("focal", "gumbel", 4, "float64"),
    ("cross-entropy", "entmax", 2, "float32"),
    ("focal", "entmax", 3, "float32"),
]


@pytest.mark.parametrize(("loss", "selector", "n_classes", "dtype"), PAIRS)
def test_both_engines_end_in_the_same_tree(loss, selector, n_classes, dtype):
    pytest.importorskip("tensorflow")
    config = replace(QUICK, loss=LOSSES[loss], selector=SELECTORS[selector], dtype=dtype)
    fast, plain = (
        fit(replace(config, engine=engine), n_classes) for engine in ("compiled", "tensorflow")
    )
    tolerance = 1e-9 if dtype == "float64" else 1e-4
    (ours,), (theirs,) = fast.history, plain.history
    assert len(ours.train_loss) == len(theirs.train_loss) == 20
    np.testing.assert_allclose(ours.train_loss, theirs.train_loss, rtol=tolerance)
    np.testing.assert_allclose(ours.valid_loss, theirs.valid_loss, rtol=1e-6 + tolerance)
    np.testing.assert_array_equal(fast.dense.split_features, plain.dense.split_features)
    for name in ("split_thresholds", "leaves"):
        np.testing.assert_allclose(
            getattr(fast.dense, name), getattr(plain.dense, name), rtol=tolerance, atol=tolerance
        )
    X, _ = noisy_rows(100, n_classes)
    np.testing.assert_array_equal(fast.dense.leaf_of(X), plain.dense.leaf_of(X))


def test_both_engines_stop_and_restart_alike():
    pytest.importorskip("tensorflow")
    config = replace(QUICK, patience=3, restarts=1, lr_leaf=0.5, dtype="float64")
    fast, plain = (fit(replace(config, engine=engine)) for engine in ("compiled", "tensorflow"))
    assert [run.stopped_early for run in fast.history] == [True, True]
    assert [len(run.valid_loss) for run in fast.history] == [
        len(run.valid_loss) for run in plain.history
    ]
    assert fast.best_run == plain.best_run
    best = [[run.best_epoch for run in one.history] for one in (fast, plain)]
    assert best[0] == best[1]
    np.testing.assert_array_equal(fast.dense.split_features, plain.dense.split_features)
    np.testing.assert_allclose(fast.dense.leaves, plain.dense.leaves, rtol=1e-9)


# Batches and validation


def test_the_batch_size_is_used():
    wanted = fit(replace(QUICK, batch_size=50))
    assert_identical(fit(QUICK).dense, wanted.dense)  # 100 rows, so 50 instead of 128
    assert (fit(replace(QUICK, batch_size=49)).dense.leaves != wanted.dense.leaves).any()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_validation_loss_is_the_plain_mean_of_its_batches(weighted):
    X, y = noisy_rows(70, 2, seed=1)
    weight = np.arange(70) % 5 + 0.5 if weighted else np.ones(70)
    result = fit(replace(QUICK, epochs=3), valid_weight=weight if weighted else None)
    losses = binary_loss(result.dense, X, y) * weight / weight.mean()
    expected = (losses[:50].mean() + losses[50:].mean()) / 2  # batches of 50, and what is left
    assert result.history[0].valid_loss[-1] == pytest.approx(expected, rel=1e-6)
    assert abs(expected - losses.mean()) > 1e-4


def test_rows_can_be_held_out_in_place():
    X, y = noisy_rows(90, 2)
    held_out = np.arange(5, 90, 6)
    kept = np.setdiff1d(np.arange(90), held_out)
    weight = np.arange(90) % 3 + 1.0
    inside = train(X, y, None, None, 2, QUICK, sample_weight=weight, valid_rows=held_out)
    weights = {"sample_weight": weight[kept], "valid_weight": weight[held_out]}
    outside = train(X[kept], y[kept], X[held_out], y[held_out], 2, QUICK, **weights)
    assert_identical(inside.dense, outside.dense)
    np.testing.assert_array_equal(inside.history[0].valid_loss, outside.history[0].valid_loss)
    with pytest.raises(ValueError, match="not both"):
        train(X, y, X, y, 2, QUICK, valid_rows=held_out)


def test_without_validation_rows_the_training_loss_decides():
    X, y = noisy_rows(60, 2)
    result = train(X, y, None, None, 2, QUICK)
    (run,) = result.history
    assert np.isnan(run.valid_loss).all()
    assert run.best_epoch == np.argmin(run.train_loss)
    assert run.best_loss == run.train_loss.min()


# Stopping


def batch_mean(tree: DenseTree) -> float:
    X, y = noisy_rows(70, 2, seed=1)
    losses = binary_loss(tree, X, y)
    return float((losses[:50].mean() + losses[50:].mean()) / 2)


OVERFIT = replace(QUICK, epochs=400, patience=15, lr_leaf=0.2)


def test_patience_ends_a_run_and_restores_its_best_epoch():
    result = fit(OVERFIT)
    (run,) = result.history
    assert run.stopped_early
    assert run.best_epoch == np.argmin(run.valid_loss)
    assert len(run.valid_loss) == result.epochs_run == run.best_epoch + 1 + 15
    assert run.valid_loss[-1] > run.best_loss
    assert batch_mean(result.dense) == pytest.approx(run.best_loss, rel=1e-6)
    # The parameters are those of the very epoch.
    early = fit(replace(OVERFIT, epochs=run.best_epoch + 1))
    assert_identical(result.dense, early.dense)


def test_equal_losses_are_no_improvement():
    frozen = replace(QUICK, lr_index=0.0, lr_values=0.0, lr_leaf=0.0, epochs=100, patience=7)
    result = fit(frozen)
    assert result.history[0].best_epoch == 0
    assert result.epochs_run == 1 + 7
    assert result.history[0].stopped_early


@pytest.mark.parametrize("stream", ["numpy", "authors"])
def test_the_best_of_independent_runs_wins(stream):
    config = replace(OVERFIT, restarts=3, stream=stream)
    result = fit(config)
    seeds = [run.seed for run in result.history]
    assert seeds == [42, 43, 45, 48]
    alone = [fit(replace(config, restarts=0, seed=seed)) for seed in seeds]
    for run, single in zip(result.history, alone, strict=True):
        np.testing.assert_array_equal(run.valid_loss, single.history[0].valid_loss)
    losses = [run.best_loss for run in result.history]
    assert result.best_run == np.argmin(losses)
    assert result.epochs_run == sum(len(run.train_loss) for run in result.history)
    assert_identical(result.dense, alone[result.best_run].dense)
