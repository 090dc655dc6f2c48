"""Bad input is named, with a remedy."""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError
from small_problems import boxes, quick

from gradtree.inputs import memory

X, Y = boxes(60)


IMPOSSIBLE = {
    "depth": (-1, 0, 2.5, True, np.nan),
    "lr_values": (0.0, -0.1, np.inf, "fast"),
    "lr_leaf": ("fast", 0),
    "loss": ("hinge", 3),
    "poly_epsilon": ("2",),
    "min_samples_leaf": (0, 1.5),
    "max_leaf_nodes": (0,),
    "ccp_alpha": (-0.1,),
    "merge_leaves": ("all",),
    "polish": (1,),
    "criterion": ("entropy",),
    "n_jobs": (0, 1.5),
    "restarts": (-1,),
    "validation_fraction": (1.0, -0.1),
    "scale": ("minmax",),
    "dtype": ("float16",),
    "verbose": ("yes",),
}


@pytest.mark.parametrize(
    ("name", "value"), [(n, v) for n, all_ in IMPOSSIBLE.items() for v in all_]
)
def test_impossible_parameters(name, value):
    told = rf"'{name}' parameter of GradTreeClassifier must be .*Got .*{value}"
    with pytest.raises(ValueError, match=told):
        quick(**{name: value}).fit(X, Y)


@pytest.mark.parametrize("weight", [-0.5, {0: np.inf, 1: 1.0}, "fair"])
def test_impossible_weights_of_classes(weight):
    with pytest.raises(ValueError, match=r"class_weight|fair"):
        quick(class_weight=weight).fit(X, Y)


def test_infinite_numbers_are_refused_and_huge_ones_are_not():
    endless, huge = X.copy(), X.copy()
    endless[0, 0], huge[0, 0] = np.inf, 1e200
    with pytest.raises(ValueError, match="infinity"):
        quick().fit(endless, Y)
    with pytest.raises(ValueError, match="'a' has infinite values"):
        quick().fit(pd.DataFrame(endless, columns=list("abcd")), Y)
    with pytest.raises(ValueError, match=r"range of float32.*leave scale"):
        quick(scale=None).fit(huge, Y)
    for scale in ("quantile", "standard"):
        model = quick(scale=scale).fit(X * 1e300, Y)
        assert model.score(X * 1e300, Y) > 0.9
        with pytest.raises(ValueError, match="float32"):
            model.to_sklearn()


def test_text_in_arrays_must_be_announced():
    cells = np.column_stack([X.astype(object), np.where(Y == 1, "yes", "no")])
    with pytest.raises(ValueError, match=r"(?s)could not convert.*categorical_features"):
        quick().fit(cells, Y)
    model = quick(categorical_features=[4]).fit(cells, Y)
    assert model.score(cells, Y) == 1.0
    with pytest.raises(ValueError, match="'x0' held numbers in training"):
        model.predict(np.full((2, 5), "a", dtype=object))


@pytest.mark.parametrize("wanted", [["nothing"], [9], [-9], [0.5], [True, False]])
def test_categorical_features_that_are_not_there(wanted):
    with pytest.raises(ValueError, match="categorical_features"):
        quick(categorical_features=wanted).fit(X, Y)


def test_sparse_rows():
    with pytest.raises(TypeError, match=r"Sparse.*toarray"):
        quick().fit(csr_matrix(X), Y)
    with pytest.raises(TypeError, match="toarray"):
        quick(epochs=5).fit(X, Y).predict(csr_matrix(X))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", 1] * 30, "cannot be ordered"),
        ([None] * 60, "60 of 60 labels are missing"),
        (["a", None, "b"] * 20, "20 of 60 labels are missing"),
        ([np.nan] * 60, "NaN"),
    ],
)
def test_labels_of_several_types_or_missing(labels, message):
    with pytest.raises(ValueError, match=message):
        quick().fit(X, np.array(labels, dtype=object) if None in labels else labels)


def test_names_of_which_some_are_text():
    frame = pd.DataFrame(X, columns=["a", 1, 2, 3])
    with pytest.raises(TypeError, match="string names"):
        quick().fit(frame, Y)


@pytest.mark.parametrize("cells", [[1j] * 60, [[1]] * 60])
def test_columns_that_are_nothing_to_split(cells):
    frame = pd.DataFrame({"a": X[:, 0], "odd": cells})
    with pytest.raises(ValueError, match="'odd' holds"):
        quick().fit(frame, Y)


def test_one_class():
    with pytest.raises(ValueError, match=r"only one class, .*at least two"):
        quick().fit(X, np.zeros(len(X)))


def test_validation_rows_with_unseen_classes():
    with pytest.raises(ValueError, match=r"y_valid has classes .*\[7\].*classes="):
        quick().fit(X, Y, X_valid=X[:2], y_valid=[0, 7])
    with pytest.raises(ValueError, match="belong together"):
        quick().fit(X, Y, X_valid=X[:2])
    with pytest.raises(ValueError, match="features"):
        quick().fit(X, Y, X_valid=X[:2, :2], y_valid=[0, 1])


def test_labels_beyond_the_named_classes():
    with pytest.raises(ValueError, match=r"not in classes: \[1\]"):
        quick().fit(X, Y, classes=[0, 5])


def test_weights():
    with pytest.raises(ValueError, match="zero"):
        quick().fit(X, Y, sample_weight=np.zeros(len(X)))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        quick().fit(X, Y, sample_weight=-np.ones(len(X)))
    only_one = np.where(Y == 1, 0.0, 1.0)
    with pytest.raises(ValueError, match="only one class"):
        quick().fit(X, Y, sample_weight=only_one)


def test_a_tree_that_does_not_fit_into_memory(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 10_000_000)
    with pytest.raises(MemoryError, match=r"depth=16 .* GB .* use depth <= 14"):
        quick(depth=16).fit(X, Y)


@pytest.mark.parametrize("depth", [17, 60, 10**9])
def test_a_depth_beyond_sense_is_refused_at_once(depth):
    began = time.process_time()
    with pytest.raises(ValueError, match=r"use depth <= 16$"):
        quick(depth=depth).fit(X, Y)
    assert time.process_time() - began < 1


def test_the_reference_engine_without_tensorflow(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    for name in ("reference", "reference_losses", "algorithm"):
        monkeypatch.delitem(sys.modules, f"gradtree.engines.{name}", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'gradtree-suite\[tensorflow-cpu\]'"):
        quick(engine="tensorflow").fit(X, Y)


def test_diverging_training():
    with pytest.raises(FloatingPointError, match="learning rates"):
        quick(scale=None, lr_values=3e38, lr_leaf=3e38).fit(X * 1e30, Y)


def test_unfitted_models():
    for method in ("predict", "predict_proba", "predict_log_proba", "apply", "decision_path"):
        with pytest.raises(NotFittedError):
            getattr(quick(), method)(X)
    for method in ("export_text", "rules", "plot", "plot_history", "to_sklearn", "get_depth"):
        with pytest.raises(NotFittedError):
            getattr(quick(), method)()


def test_warm_start_from_another_shape():
    model = quick(warm_start=True, epochs=5).fit(X, Y)
    with pytest.raises(ValueError, match="another shape"):
        model.fit(X[:, :3], Y)
    with pytest.raises(ValueError, match="another shape"):
        model.set_params(depth=3).fit(X, Y)
