"""Our trees in scikit-learn, SHAP, dtreeviz and ONNX, and scikit-learn's as ours."""

import time
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier, export_graphviz, export_text, plot_tree
from small_problems import boxes, passengers, quick, revised
from tree_samples import full_tree, grid_rows, random_dense, random_tree, stump

from gradtree.trees.pruning import pruned_tree
from gradtree.trees.tree import Tree

LABELS = np.array(["fish", "fowl", "flesh"])


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.booleans())
def test_scikit_learn_predicts_the_same(seed, n_leaves, counts):
    tree, X = random_tree(seed, n_leaves, counts=counts), grid_rows(seed)
    twin = tree.to_sklearn(classes=LABELS)
    np.testing.assert_array_equal(twin.apply(X), tree.apply(X))
    np.testing.assert_array_equal(twin.predict_proba(X), tree.predict_proba(X))
    np.testing.assert_array_equal(twin.predict(X), LABELS[tree.predict(X)])
    assert twin.get_depth() == tree.depth
    assert twin.get_n_leaves() == tree.n_leaves


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_there_and_back(criterion):
    X, y = load_iris(return_X_y=True)
    cart = DecisionTreeClassifier(criterion=criterion, random_state=0).fit(X, LABELS[y])
    tree = Tree.from_sklearn(cart)
    np.testing.assert_array_equal(tree.apply(X), cart.apply(X))
    np.testing.assert_array_equal(tree.predict_proba(X), cart.predict_proba(X))
    twin = tree.to_sklearn(classes=cart.classes_)
    assert Tree.from_sklearn(twin) == tree
    np.testing.assert_array_equal(twin.tree_.n_node_samples, cart.tree_.n_node_samples)
    np.testing.assert_allclose(twin.tree_.value, cart.tree_.value)
    if criterion == "gini":
        np.testing.assert_allclose(twin.tree_.impurity, cart.tree_.impurity, atol=1e-12)
        np.testing.assert_allclose(twin.feature_importances_, cart.feature_importances_)

    weight = np.random.default_rng(0).uniform(0.1, 3, len(y))
    cart = DecisionTreeClassifier(max_depth=2).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(Tree.from_sklearn(cart).predict_proba(X), cart.predict_proba(X))


def test_names_are_kept_and_what_cannot_be_converted_is_refused():
    twin = stump().to_sklearn(feature_names=["age", "fare"])
    assert twin.feature_names_in_.tolist() == ["age", "fare"]
    with pytest.raises(ValueError, match="3 classes"):
        stump().to_sklearn(classes=LABELS)
    with pytest.raises(NotFittedError):
        Tree.from_sklearn(DecisionTreeClassifier())
    two = DecisionTreeClassifier().fit([[0.0], [1.0]], [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="one output"):
        Tree.from_sklearn(two)


def test_scikit_learns_own_tools():
    plt = pytest.importorskip("matplotlib.pyplot")
    tree = random_tree(4, 6)
    twin = tree.to_sklearn(classes=LABELS)
    assert export_text(twin).count("class:") == 6
    assert export_graphviz(twin).count("->") == tree.node_count - 1
    assert len(plot_tree(twin, ax=plt.figure().add_subplot())) >= tree.node_count
    plt.close("all")


def test_shap_values_add_up_to_the_prediction():
    shap = pytest.importorskip("shap")
    X = grid_rows(5, 40)
    for tree in (
        random_tree(6),
        random_tree(6, counts=False),
        pruned_tree(random_dense(1, 5, 5, 3), X)[0],
        full_tree(random_dense(1, 5, 5, 3), X),
    ):
        explainer = shap.TreeExplainer(tree.to_sklearn())
        values = explainer.shap_values(X)
        total = values.sum(axis=1) + explainer.expected_value
        np.testing.assert_allclose(total, tree.predict_proba(X), atol=1e-6)


def test_dtreeviz_reads_the_twin():
    dtreeviz = pytest.importorskip("dtreeviz")
    X = grid_rows(9)
    tree = random_tree(10, 8)
    y = tree.predict(X)
    model = dtreeviz.model(
        tree.to_sklearn(), X, y, feature_names=list("abcde"), class_names=LABELS.tolist()
    )
    shadow = model.shadow_tree
    assert shadow.nnodes() == tree.node_count
    assert {leaf.id for leaf in shadow.leaves} == set(np.unique(np.flatnonzero(tree.feature < 0)))
    explanation = model.explain_prediction_path(X[0])
    assert isinstance(explanation, str)


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
