"""GradTreeClassifier and GradTreeRegressor as estimators of scikit-learn."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks
from small_problems import boxes, quick, regressor, revised

from gradtree import PAPER, GradTreeClassifier, GradTreeRegressor

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "trained by shuffled mini-batches: repeating a row changes the batches, a weight does not"
    )
}


@parametrize_with_checks(
    [quick(epochs=60, patience=30), revised(), regressor()],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model",
    [GradTreeClassifier(), GradTreeClassifier(**PAPER), GradTreeRegressor()],
    ids=["own", "paper", "regressor"],
)
def test_scikit_learns_own_checks_with_the_defaults(model):
    check_estimator(model, expected_failed_checks=EXPECTED_FAILURES)


@pytest.mark.parametrize("model", [quick(), regressor()], ids=["classifier", "regressor"])
def test_in_a_pipeline_a_grid_and_cross_validation(model):
    X, y = boxes()
    pipeline = make_pipeline(
        QuantileTransformer(n_quantiles=50, output_distribution="normal"), model
    )
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    depth = f"{type(model).__name__.lower()}__depth"
    search = GridSearchCV(pipeline, {depth: [1, 3]}, cv=2).fit(X, y)
    assert set(search.best_params_) == {depth}
    assert search.best_estimator_.score(X, y) > 0.9


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [-5, 7], [2.0, 10.0], [False, True], np.array(["b", "a"], dtype=object)],
    ids=["text", "integers", "floats", "booleans", "objects"],
)
def test_labels_of_any_kind(labels):
    X, y = boxes()
    named = np.asarray(labels)[y]
    model = quick().fit(X, named)
    assert model.classes_.tolist() == sorted(set(named.tolist()))
    assert model.predict(X).dtype == named.dtype
    assert model.score(X, named) > 0.95


@pytest.mark.parametrize("model", [quick(), regressor()], ids=["classifier", "regressor"])
def test_data_frames_have_names(model):
    X, y = boxes()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model.fit(frame, pd.Series(y, name="label"))
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert model.n_features_in_ == 4
    assert "a <= " in model.export_text()
    assert model.to_sklearn().feature_names_in_.tolist() == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["d", "c", "b", "a"]])


def test_what_a_fitted_model_tells():
    X, y = boxes()
    model = quick().fit(X, np.array(["no", "yes"])[y])
    assert model.tree_.n_node_samples[0] == 300
    assert len(model.history_) == 2
    assert model.n_epochs_ == sum(len(run.train_loss) for run in model.history_)
    best = min(range(2), key=lambda run: model.history_[run].best_loss)
    assert model.best_run_ == best
    assert len(model.rules()) == model.tree_.n_leaves
    assert "yes" in model.export_graphviz()
    np.testing.assert_array_equal(model.apply(X), model.tree_.apply(X))
    np.testing.assert_array_equal(model.to_sklearn().predict(X), model.predict(X))


def test_plots():
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y = boxes()
    model = quick().fit(X, y)
    assert model.plot() is not None
    axes = model.plot_history()
    assert len(axes.get_legend().get_texts()) == 2
    plt.close("all")


FORBIDDEN = ["tensorflow", "pandas", "matplotlib", "numba", "sklearn", "scipy"]


def test_import_is_fast_and_light():
    program = (
        "import sys, time; start = time.perf_counter(); import gradtree; "
        "seconds = time.perf_counter() - start; "
        f"print(seconds, [name for name in {FORBIDDEN} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    seconds, loaded = done.stdout.split(maxsplit=1)
    assert loaded.strip() == "[]"
    assert float(seconds) < 0.5


def test_the_estimator_needs_no_tensorflow_pandas_or_matplotlib():
    program = (
        "import sys\n"
        "for name in ('tensorflow', 'pandas', 'matplotlib'): sys.modules[name] = None\n"
        "import numpy as np\n"
        "from gradtree import GradTreeClassifier\n"
        "X = np.random.default_rng(0).normal(size=(60, 2)); y = X[:, 0] > 0\n"
        "model = GradTreeClassifier(depth=2, epochs=20, restarts=0, random_state=0).fit(X, y)\n"
        "print(model.export_text())\n"
        "try:\n    model.plot()\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "x0" in done.stdout
    assert "pip install" in done.stdout


def test_every_public_name_exists():
    import gradtree

    for name in gradtree.__all__:
        assert name == "PAPER" or getattr(gradtree, name).__doc__
        assert name in dir(gradtree)
    with pytest.raises(AttributeError, match="nonsense"):
        gradtree.nonsense  # noqa: B018
