"""What training does with rows, weights, seeds, threads and losses."""

import sys

import numpy as np
import pytest
from sklearn.metrics import f1_score
from small_problems import Terminal, boxes, quick, revised

from gradtree import PAPER, GradTreeClassifier
from gradtree.engines.scores import macro_f1
from gradtree.inputs.arrays import class_weights
from gradtree.inputs.folds import hold_out
from gradtree.inputs.parameters import settled, train_config
from gradtree.training.train import Progress, ProgressBar, train


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("selector", ["entmax", "annealed"])
def test_boxes_are_learned(n_classes, selector):
    X, y = boxes(600, n_classes)
    model = quick(selector=selector, epochs=300, restarts=2).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.9


def test_the_seed_decides():
    X, y = boxes()
    assert quick(random_state=1).fit(X, y).tree_ != quick(random_state=2).fit(X, y).tree_
    state = np.random.RandomState(5)
    first, second = quick(random_state=state).fit(X, y), quick(random_state=state).fit(X, y)
    assert first.tree_ != second.tree_
    assert first.tree_ == quick(random_state=np.random.RandomState(5)).fit(X, y).tree_


def test_fortran_float32_and_frames_train_alike():
    X, y = boxes()
    X = X.astype(np.float32)
    expected = quick().fit(X, y).tree_
    assert quick().fit(np.asfortranarray(X), y).tree_ == expected
    assert quick().fit(X.astype(np.float64), y).tree_ == expected


def test_auto_depends_on_the_number_of_classes():
    params = GradTreeClassifier(**PAPER).get_params()
    two, more = train_config(params, 2, 42), train_config(params, 3, 42)
    assert (two.lr_leaf, two.restarts, two.loss.kind) == (0.005, 5, "cross-entropy")
    assert (more.lr_leaf, more.restarts, more.loss.kind) == (0.05, 3, "focal")
    assert two.run_seeds() == (42, 43, 45, 48, 52, 57)


def test_given_validation_rows_are_not_trained_on_but_decide():
    X, y = boxes(200)
    model = quick(epochs=500, patience=10).fit(X, y, X_valid=X[:50], y_valid=1 - y[:50])
    # The validation labels are wrong, so every step makes things worse.
    assert max(run.best_epoch for run in model.history_) < 50
    assert model.tree_.n_node_samples[0] == 200


def test_classes_may_be_missing_from_the_training_rows():
    X, y = boxes(100)
    model = quick(epochs=10).fit(X, y, X_valid=X[:10], y_valid=np.full(10, 2), classes=[0, 1, 2])
    assert model.predict_proba(X).shape == (100, 3)
    assert model.classes_.tolist() == [0, 1, 2]


def test_rows_of_weight_zero_are_as_good_as_absent():
    X, y = boxes(200)
    kept = np.arange(200) < 150
    with_weights = quick().fit(X, np.where(kept, y, 1 - y), sample_weight=kept.astype(float))
    assert with_weights.tree_ == quick().fit(X[:150], y[:150]).tree_


PEAK_OF_A_FIT = """
import resource
import numpy as np
from gradtree import GradTreeClassifier

def peak():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

model = GradTreeClassifier(epochs=1, restarts=0, random_state=0)
small = np.random.default_rng(0).normal(size=(500, 50))
model.fit(small, small[:, 0] > 0)
X = np.tile(small, (2000, 1))
y = X[:, 0] > 0
before = peak()
model.fit(X, y)
print((peak() - before) / X.nbytes)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts in other units elsewhere")
def test_a_million_rows_take_less_than_twice_their_memory(python):
    assert float(python(PEAK_OF_A_FIT)) < 2.0


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([50, 50], [10, 10]),
        ([97, 3], [19, 1]),
        ([10, 1], [2, 0]),
        ([1, 1, 1], [0, 0, 0]),
        ([2, 2], [1, 0]),
        ([6, 7, 8], [1, 1, 2]),
    ],
)
def test_validation_rows_are_stratified_and_leave_every_class_a_row(counts, expected):
    y = np.random.default_rng(1).permutation(np.repeat(np.arange(len(counts)), counts))
    rows = hold_out(y, 0.2, np.random.default_rng(0))
    assert np.bincount(y[rows], minlength=len(counts)).tolist() == expected
    assert len(set(rows.tolist())) == len(rows)
    assert rows.tolist() == hold_out(y, 0.2, np.random.default_rng(0)).tolist()


def test_tiny_training_sets():
    model = quick(epochs=20).fit([[0.0], [1.0]], ["a", "b"])
    assert model.predict([[0.0], [1.0]]).shape == (2,)
    assert np.isnan(model.history_[0].valid_loss).all()


def test_progress_is_shown(capsys):
    X, y = boxes(100)
    quick(epochs=10, verbose=1).fit(X, y)
    shown = capsys.readouterr().err
    assert all(told in shown for told in ("compiles", "run 1/2", "run 2/2"))
    quick(epochs=10).fit(X, y)
    assert capsys.readouterr().err == ""


def test_progress_changes_one_line_of_a_terminal():
    screen = Terminal()
    bar = ProgressBar(patience=10, file=screen)
    for run, epoch in ((0, 1), (0, 5), (1, 2)):
        bar(Progress(run, 2, epoch, 10, epoch - 1, 0.25, 0.5, 0.25))
    bar.close()
    assert screen.getvalue().count("\n") == 2
    assert "best 0.2500 in epoch 5" in screen.getvalue()


def test_progress_counts_the_epochs_that_a_run_may_have():
    X, y = boxes(100)
    seen = []
    config = train_config(
        settled(quick(max_row_visits=500, restarts=0).get_params(), 2), n_classes=2, seed=0
    )
    train(X.astype(np.float32), y, None, None, 2, config, progress=seen.append)
    assert {progress.epochs for progress in seen} == {5}
    assert seen[-1].epoch == 5


def test_macro_f1_is_that_of_scikit_learn():
    rng = np.random.default_rng(5)
    for n_classes in (2, 3, 6):
        y, guess = rng.integers(0, n_classes, (2, 50))
        guess[guess == 1] = 0
        for weight in (None, rng.uniform(0.1, 2, 50)):
            expected = f1_score(y, guess, average="macro", sample_weight=weight)
            assert macro_f1(y, guess, weight) == pytest.approx(expected, rel=1e-12)


def test_both_engines_choose_alike():
    pytest.importorskip("tensorflow")
    X, y = boxes(90, n_classes=3)
    fast, plain = (
        revised(epochs=4, depth=3, restarts=1, engine=engine, ccp_alpha=0.0).fit(X, y)
        for engine in ("compiled", "tensorflow")
    )
    for ours, theirs in zip(fast.history_, plain.history_, strict=True):
        np.testing.assert_allclose(ours.valid_f1, theirs.valid_f1, atol=1e-6)
    assert fast.best_run_ == plain.best_run_
    np.testing.assert_array_equal(fast.predict(X), plain.predict(X))


def test_threads_change_nothing():
    X, y = boxes(300, n_classes=3)
    for build in (quick, revised):
        one, two = (build(restarts=3, epochs=40, n_jobs=n).fit(X, y) for n in (1, 2))
        assert one.tree_ == two.tree_
        assert one.best_run_ == two.best_run_
        assert [run.seed for run in one.history_] == [run.seed for run in two.history_]


def test_an_error_in_one_run_ends_all():
    X, y = boxes(200)

    def broken(p, label, gradient):
        gradient[label] = np.nan
        return np.nan

    with pytest.raises(FloatingPointError, match=r"epoch 1.*loss of your own"):
        quick(loss=broken, restarts=5, epochs=10_000, patience=10_000, n_jobs=2).fit(X, y)


def test_powers_of_class_weights():
    y, classes = np.repeat([0, 1, 2], [10, 40, 50]), np.arange(3)
    balanced = class_weights("balanced", y, classes)
    np.testing.assert_allclose(class_weights(1.0, y, classes), balanced)
    np.testing.assert_allclose(class_weights("sqrt-balanced", y, classes), balanced**0.5)
    np.testing.assert_allclose(class_weights(0.0, y, classes), 1.0)
