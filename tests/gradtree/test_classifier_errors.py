"""Bad input is named, with a remedy."""

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


NAMES = list("abcd")
ENDLESS, HUGE = X.copy(), X.copy()
ENDLESS[0, 0], HUGE[0, 0] = np.inf, 1e200
WEIGHTS = [-0.5, np.nan, np.inf, {0: np.inf, 1: 1.0}, {0: np.nan, 1: 1.0}, {0: -1.0}, "fair"]
REFUSED = [
    *(({"params": {"class_weight": weight}}, r"class_weight|fair") for weight in WEIGHTS),
    *(
        ({"params": {"categorical_features": wanted}}, "categorical_features")
        for wanted in (["nothing"], [9], [-9], [0.5], [True, False])
    ),
    ({"X": ENDLESS}, "infinity"),
    ({"X": pd.DataFrame(ENDLESS, columns=NAMES)}, "'a' has infinite values"),
    ({"X": HUGE, "params": {"scale": None}}, r"range of float32.*leave scale"),
    *(
        ({"X": pd.DataFrame({"a": X[:, 0], "odd": cells})}, "'odd' holds")
        for cells in ([1j] * 60, [[1]] * 60)
    ),
    ({"y": ["a", 1] * 30}, "cannot be ordered"),
    ({"y": np.array([None] * 60)}, "60 of 60 labels are missing"),
    ({"y": np.array(["a", None, "b"] * 20)}, "20 of 60 labels are missing"),
    ({"y": [np.nan] * 60}, "NaN"),
    ({"X_valid": X[:2], "y_valid": [0, 7]}, r"y_valid has classes .*\[7\].*classes="),
    ({"X_valid": X[:2]}, "belong together"),
    ({"X_valid": X[:2, :2], "y_valid": [0, 1]}, "features"),
    ({"classes": [0, 5]}, r"not in classes: \[1\]"),
    ({"sample_weight": np.zeros(60)}, "zero"),
    ({"sample_weight": -np.ones(60)}, r"[Nn]egative"),
    ({"sample_weight": np.where(Y == 1, 0.0, 1.0)}, "only one class"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_what_cannot_be_learned_from_is_refused(given, message):
    call = {"X": X, "y": Y, **given}
    params = call.pop("params", {})
    with pytest.raises(ValueError, match=message):
        quick(**params).fit(**call)


@pytest.mark.parametrize("scale", ["quantile", "standard"])
def test_huge_numbers_are_not_refused(scale):
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


def test_sparse_rows():
    with pytest.raises(TypeError, match=r"Sparse.*toarray"):
        quick().fit(csr_matrix(X), Y)
    with pytest.raises(TypeError, match="toarray"):
        quick(epochs=5).fit(X, Y).predict(csr_matrix(X))


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
    for name in ("reference", "algorithm"):
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
