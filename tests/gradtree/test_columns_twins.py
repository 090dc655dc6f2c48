"""Trees over raw columns in scikit-learn, SHAP and ONNX."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from small_problems import boxes, passengers, quick, revised


def gappy_wine():
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    return np.where(rng.random(X.shape) < 0.1, np.nan, X), y


def test_the_twin_predicts_the_same_on_the_raw_matrix():
    X, y = gappy_wine()
    model = quick(merge_leaves=False).fit(X, y)
    twin = model.to_sklearn()
    rng = np.random.default_rng(1)
    new = np.where(rng.random(X.shape) < 0.2, np.nan, rng.permuted(X, axis=0))
    for rows in (X, new, new.astype(np.float32)):
        np.testing.assert_array_equal(twin.apply(rows), model.apply(rows))
        np.testing.assert_array_equal(twin.predict_proba(rows), model.predict_proba(rows))


def test_categories_become_a_pipeline():
    table = passengers()[["sex", "age", "port", "alone", "survived"]]
    X, y = table.drop(columns="survived"), table["survived"]
    model = quick(depth=4, merge_leaves=False).fit(X, y)
    assert model.tree_.members is not None
    pipeline = model.to_sklearn()
    new = passengers(seed=5)[X.columns]
    new.loc[:20, "port"] = "Belfast"
    new.loc[21:40, "sex"] = None
    for rows in (X, new):
        np.testing.assert_array_equal(pipeline.predict(rows), model.predict(rows))
        np.testing.assert_array_equal(pipeline.predict_proba(rows), model.predict_proba(rows))


def test_what_has_no_twin_says_why():
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(100), unit="D")
    model = quick(epochs=20).fit(pd.DataFrame({"day": days}), np.arange(100) > 40)
    with pytest.raises(ValueError, match=r"no exact twin.*'day' holds dates"):
        model.to_sklearn()
    close = 1.0 + np.arange(100)[:, np.newaxis] * 1e-12
    fine = quick(epochs=40).fit(close, np.arange(100) > 40)
    assert fine.score(close, np.arange(100) > 40) > 0.9
    with pytest.raises(ValueError, match="float32"):
        fine.to_sklearn()


@pytest.mark.parametrize(("n_classes", "gaps"), [(2, False), (3, False), (2, True)])
def test_onnx_predicts_the_same_from_raw_rows(n_classes, gaps):
    skl2onnx = pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    X, y = boxes(400, n_classes)
    X = (X * [1e3, 1e-3, 1.0, 1e6]).astype(np.float32)
    if gaps:
        X[(y == 1) & (np.arange(400) % 3 == 0), 0] = X[::7, 1] = np.nan
    model = quick().fit(X, y)
    made = skl2onnx.to_onnx(model.to_sklearn(), X[:1], options={"zipmap": False})
    session = runtime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    label, probability = session.run(None, {session.get_inputs()[0].name: X})
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_allclose(probability, model.predict_proba(X), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("make", ["frame", "matrix", "one row"])
def test_predicting_takes_no_more_than_one_and_a_half_times_what_the_twin_takes(make):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(1_000_000, 10)), columns=list("abcdefghij"))
    y = (frame["a"] > 0) ^ (frame["b"] > 0.3)
    model = revised(depth=6, ccp_alpha=0.0).fit(frame[:5000], y[:5000])
    twin = model.to_sklearn()
    rows = {"frame": frame, "matrix": frame.to_numpy(), "one row": frame[:1]}[make]
    times = 200 if make == "one row" else 1

    def seconds(predict):
        took = []
        for _ in range(4):
            began = time.process_time()
            for _ in range(times):
                predict(rows)
            took.append(time.process_time() - began)
        return min(took)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert seconds(model.predict) < 1.5 * seconds(twin.predict)
