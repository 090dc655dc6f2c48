"""DNDT: its training loop against a plain one, its refusals."""

from typing import Any

import numpy as np
import pytest
from learner_splits import made_up_split
from sklearn.utils.estimator_checks import parametrize_with_checks

tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")

from baselines.algorithms.dndt import DNDTClassifier  # noqa: E402
from baselines.algorithms.dndt_training import (  # noqa: E402
    Trained,
    Weights,
    initial_weights,
    soft_logits,
    train,
)


def plain_logits(X: Any, cuts: list[Any], scores: Any, temperature: float) -> Any:
    """All leaf memberships by the Kronecker product, as the paper writes it."""
    leaf = tf.ones([len(X), 1])
    for feature, cut in enumerate(cuts):
        x = X[:, feature : feature + 1]
        sides = tf.nn.softmax(tf.concat([x, 2 * x - cut], axis=1) / temperature)
        leaf = tf.reshape(tf.einsum("ij,ik->ijk", leaf, sides), [len(X), -1])
    return leaf @ scores


def plain_training(
    X: np.ndarray, y: np.ndarray, start: Weights, schedule: DNDTClassifier
) -> tuple[np.ndarray, np.ndarray]:
    """The loop in Python with Keras' optimiser, one variable and step after the other."""
    cuts = [tf.Variable([cut]) for cut in start[0]]
    scores = tf.Variable(start[1])
    adam = tf.keras.optimizers.Adam(schedule.learning_rate)
    adam.build([scores, *cuts])
    for _ in range(schedule.epochs):
        for begin in range(0, len(X), schedule.batch_size):
            rows = tf.constant(X[begin : begin + schedule.batch_size], tf.float32)
            labels = y[begin : begin + schedule.batch_size]
            with tf.GradientTape() as tape:
                logits = plain_logits(rows, cuts, scores, schedule.temperature)
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
                loss = tf.reduce_mean(losses)
            for gradient, variable in zip(
                tape.gradient(loss, [*cuts, scores]), [*cuts, scores], strict=True
            ):
                adam.apply([gradient], [variable])
    return np.concatenate([cut.numpy() for cut in cuts]), scores.numpy()


@pytest.mark.parametrize(("n_features", "n_classes"), [(1, 2), (3, 2), (5, 3)])
def test_the_compiled_loop_is_the_plain_one(n_features, n_classes):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(50, n_features)), random.integers(0, n_classes, 50)
    start = initial_weights(42, n_features, n_classes)
    # Three batches, the last of them smaller.
    schedule = DNDTClassifier(0.05, 0.5, batch_size=20, epochs=4, patience=100)
    trained = train(X, y, X, y, start, schedule)
    cuts, scores = plain_training(X, y, start, schedule)
    assert trained.epochs == 4
    np.testing.assert_allclose(trained.weights[0], cuts, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(trained.weights[1], scores, rtol=1e-4, atol=1e-5)


def noisy_run(epochs: int, patience: int) -> tuple[Trained, float]:
    """A run, and the validation loss of the weights that it returns."""
    split = made_up_split(2)
    schedule = DNDTClassifier(0.3, 0.3, batch_size=30, epochs=epochs, patience=patience)
    start = initial_weights(1, split.n_features, 2)
    trained = train(split.X_train, split.y_train, split.X_valid, split.y_valid, start, schedule)
    weights = trained.weights
    logits = soft_logits(
        tf.constant(split.X_valid, tf.float32),
        tf.constant(weights[0]),
        tf.constant(weights[1]),
        schedule.temperature,
    )
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(split.y_valid, logits)
    return trained, float(tf.reduce_mean(losses))


def test_the_best_weights_return_only_when_patience_ends_the_run():
    stopped, loss = noisy_run(epochs=500, patience=6)
    assert stopped.stopped
    assert stopped.epochs < 500
    assert loss == pytest.approx(stopped.best_loss, rel=1e-5)
    ended, last_loss = noisy_run(epochs=stopped.epochs, patience=1000)
    assert not ended.stopped
    assert ended.best_loss == pytest.approx(stopped.best_loss, rel=1e-5)
    assert last_loss > ended.best_loss * 1.001


def test_predictions_use_hard_cuts():
    split = made_up_split(3, n_features=3)
    model = DNDTClassifier(epochs=20, random_state=0).fit(
        split.X_train, split.y_train, split.X_valid, split.y_valid
    )
    sides = (split.X_test.astype(np.float32) > model.cuts_) @ [4, 2, 1]
    leaf_values = model.tree_.value[-8:]
    np.testing.assert_array_equal(model.predict_proba(split.X_test), leaf_values[sides])
    assert model.size_ == 2 * 3 + 2**3


def test_too_many_features_and_validation_rows_without_labels_are_refused():
    split = made_up_split(2, n_features=13)
    with pytest.raises(ValueError, match="at most 12"):
        DNDTClassifier().fit(split.X_train, split.y_train)
    split = made_up_split(2)
    with pytest.raises(ValueError, match="pass both or neither"):
        DNDTClassifier().fit(split.X_train, split.y_train, X_valid=split.X_valid)


@pytest.mark.slow
@parametrize_with_checks([DNDTClassifier(epochs=300)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)
