"""To scikit-learn's tree and back, which opens the tools written for it.

``sklearn.tree.plot_tree``, SHAP's TreeExplainer, dtreeviz and the ONNX
converters all read a fitted ``DecisionTreeClassifier``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from gradtree.trees.traversal import EMPTY_WEIGHT, fill_upwards
from gradtree.trees.tree import LEAF, Tree

# What an empty leaf weighs, so that shares of rows stay defined below empty nodes.
EMPTY_WEIGHT = 1e-9


def to_sklearn(
    tree: Tree, *, classes: ArrayLike | None = None, feature_names: ArrayLike | None = None
) -> DecisionTreeClassifier:
    """A fitted ``DecisionTreeClassifier`` that predicts what ``tree`` predicts.

    Parameters
    ----------
    tree : Tree
    classes : array-like of shape (n_classes,), optional
        Labels that ``predict`` returns, ascending; ``0, 1, …`` without them.
    feature_names : array-like of shape (n_features,), optional
        Becomes ``feature_names_in_``.

    Returns
    -------
    DecisionTreeClassifier
        Node numbers are those of ``tree``. Impurities are the Gini impurities
        of the class probabilities. Where the tree does not know its training
        rows, every leaf counts as one row.
    """
    labels = np.arange(tree.n_classes) if classes is None else np.asarray(classes)
    if len(labels) != tree.n_classes:
        raise ValueError(f"{len(labels)} classes for a tree with {tree.n_classes}")
    estimator = DecisionTreeClassifier(max_depth=max(tree.depth, 1))
    estimator.classes_ = labels
    estimator.n_classes_ = np.int64(tree.n_classes)
    estimator.n_outputs_ = 1
    estimator.n_features_in_ = tree.n_features
    estimator.max_features_ = tree.n_features
    if feature_names is not None:
        estimator.feature_names_in_ = np.asarray(feature_names, dtype=object)
    estimator.tree_ = _grown(tree)
    return estimator


def from_sklearn(estimator: DecisionTreeClassifier) -> Tree:
    """The tree of a fitted single-output ``DecisionTreeClassifier``.

    Columns of ``value`` follow ``estimator.classes_``. Where scikit-learn would
    send missing values is not kept: the canonical tree has no missing values.
    """
    check_is_fitted(estimator)
    if estimator.n_outputs_ != 1:
        raise ValueError("only trees with one output can be converted; fit one tree per output")
    grown = estimator.tree_
    leaf = grown.children_left == LEAF
    weights = grown.value[:, 0, :]
    return Tree(
        children_left=grown.children_left,
        children_right=grown.children_right,
        feature=np.where(leaf, LEAF, grown.feature),
        threshold=np.where(leaf, np.nan, grown.threshold),
        value=weights / weights.sum(axis=1, keepdims=True),
        n_features=int(estimator.n_features_in_),
        n_node_samples=grown.n_node_samples,
    )


def _grown(tree: Tree) -> Any:
    """scikit-learn's own tree object with the content of ``tree``."""
    compiled_type, node_type = _compiled_layout()
    leaf = tree.children_left == LEAF
    weight, value = _weights_and_values(tree)
    nodes = np.zeros(tree.node_count, dtype=node_type)
    nodes["left_child"] = tree.children_left
    nodes["right_child"] = tree.children_right
    nodes["feature"] = np.where(leaf, -2, tree.feature)
    nodes["threshold"] = np.where(leaf, -2.0, tree.threshold)
    nodes["impurity"] = 1.0 - (value**2).sum(axis=1)
    nodes["n_node_samples"] = weight if tree.n_node_samples is None else tree.n_node_samples
    nodes["weighted_n_node_samples"] = weight
    state = {
        "max_depth": tree.depth,
        "node_count": tree.node_count,
        "nodes": nodes,
        "values": np.ascontiguousarray(value[:, np.newaxis, :]),
    }
    # The state of a compiled tree may be set once only: a second time would not make room.
    compiled = compiled_type(tree.n_features, np.array([tree.n_classes], dtype=np.intp), 1)
    compiled.__setstate__(state)
    return compiled


def _compiled_layout() -> tuple[Any, np.dtype[Any]]:
    """Type and node layout of compiled trees in the installed scikit-learn."""
    stump = DecisionTreeClassifier(max_depth=1).fit([[0.0], [1.0]], [0, 1]).tree_
    return type(stump), stump.__getstate__()["nodes"].dtype


def _weights_and_values(tree: Tree) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows and class probabilities per node, also where the tree has none itself."""
    rows = np.ones(tree.node_count) if tree.n_node_samples is None else tree.n_node_samples
    weight = np.maximum(rows, EMPTY_WEIGHT, dtype=np.float64)
    mean = tree.value.copy()
    fill_upwards(tree.children_left, tree.children_right, weight, mean)
    given = np.isclose(tree.value.sum(axis=1, keepdims=True), 1.0)
    return weight, np.where(given, tree.value, mean)
