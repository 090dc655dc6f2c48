"""scikit-learn's tree from ours and back, in the tools that people use it with."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier, export_graphviz, export_text, plot_tree
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


def test_rows_next_to_a_threshold_agree_too():
    t = np.float32(0.3)
    X = np.array([[0, t], [0, np.nextafter(t, np.float32(1))], [0, 0.3]])
    tree = stump(float(t))
    np.testing.assert_array_equal(tree.to_sklearn().apply(X), tree.apply(X))


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


def test_a_tree_fitted_with_weights_keeps_its_probabilities():
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.1, 3, len(y))
    cart = DecisionTreeClassifier(max_depth=2).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(Tree.from_sklearn(cart).predict_proba(X), cart.predict_proba(X))


def test_names_and_wrong_classes():
    twin = stump().to_sklearn(feature_names=["age", "fare"])
    assert twin.feature_names_in_.tolist() == ["age", "fare"]
    with pytest.raises(ValueError, match="3 classes"):
        stump().to_sklearn(classes=LABELS)


def test_what_cannot_be_converted_is_refused():
    with pytest.raises(NotFittedError):
        Tree.from_sklearn(DecisionTreeClassifier())
    two = DecisionTreeClassifier().fit([[0.0], [1.0]], [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="one output"):
        Tree.from_sklearn(two)


def test_the_twin_is_an_ordinary_estimator():
    twin = random_tree(1).to_sklearn()
    assert not hasattr(clone(twin), "tree_")
    X = grid_rows(3)
    assert twin.fit(X, X[:, 0] > 0).score(X, X[:, 0] > 0) == 1.0


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
        pruned_tree(random_dense(1, 5, 5, 3), X),
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
