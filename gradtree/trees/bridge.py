"""To scikit-learn's tree and back, which opens tools written for it: plots, SHAP, ONNX."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from gradtree.columns.coding import Column
from gradtree.trees.regression_tree import RegressionTree
from gradtree.trees.traversal import missing_goes_left, weights_and_values
from gradtree.trees.tree import LEAF, Tree
from gradtree.typing import Array


def to_sklearn(
    tree: Tree,
    *,
    classes: ArrayLike | None = None,
    feature_names: ArrayLike | None = None,
    probabilities: bool = False,
) -> Any:
    """A fitted ``DecisionTreeClassifier``, or ``-Regressor``, that predicts what ``tree`` predicts.

    Parameters
    ----------
    tree : Tree
    classes : array-like of shape (n_classes,), optional
        Labels that ``predict`` returns, ascending; ``0, 1, …`` without them.
    feature_names : array-like of shape (n_features,), optional
        Becomes ``feature_names_in_``.
    probabilities : bool, default=False
        scikit-learn's trees predict the most probable class. Where weights of classes or a loss of
        one's own decide otherwise, the twin predicts what ``tree`` predicts, with probabilities
        after these weights; with True, its probabilities are those of ``tree`` instead.

    Returns
    -------
    DecisionTreeClassifier, DecisionTreeRegressor or Pipeline
        Node numbers are those of ``tree``. Impurities are Gini impurities of the class
        probabilities, or variances of the predictions below; leaves whose rows are not known count
        as one row. A tree over other columns than numbers ends a pipeline that picks those in use,
        with an ``OrdinalEncoder`` for every set of categories.

    Raises
    ------
    ValueError
        Where there is no exact twin: scikit-learn's trees round numbers to ``float32`` (so that one
        just above a threshold goes left) and know no dates. Trees that split dates, numbers that
        only ``float64`` tells apart, or numbers written as text cannot be converted.
    """
    labels = np.arange(tree.n_classes) if classes is None else np.asarray(classes)
    if not isinstance(tree, RegressionTree) and len(labels) != tree.n_classes:
        raise ValueError(f"{len(labels)} classes for a tree with {tree.n_classes}")
    _check_convertible(tree)
    if tree.decision is not None and not probabilities:
        tree = replace(tree, value=tree.decision)
    if all(column.kind == "number" and not column.from_text for column in tree.columns or ()):
        return _estimator(tree, labels, feature_names)
    return _pipeline(tree, labels, feature_names)


def _check_convertible(tree: Tree) -> None:
    columns = tree.columns or ()
    for place in np.unique(tree.feature[tree.feature != LEAF] if columns else []).astype(int):
        column, problem = columns[place], None
        if column.kind in ("date", "duration"):
            problem = f"{column.kind}s, which scikit-learn's trees do not know"
        elif column.fine:
            problem = "numbers that differ by less than the float32 of scikit-learn's trees tells"
        elif column.from_text:
            problem = "numbers written as text, which scikit-learn's trees do not read"
        elif column.as_text:
            problem = "categories of several types, which scikit-learn's encoders refuse"
        if problem:
            raise ValueError(
                f"this tree has no exact twin in scikit-learn: column {column.name!r} holds "
                f"{problem}; use the tree itself (predict, rules, to_json), or train without "
                "that column"
            )


def _estimator(tree: Tree, labels: Array, feature_names: ArrayLike | None) -> Any:
    depth = max(tree.depth, 1)
    estimator: Any
    if isinstance(tree, RegressionTree):
        estimator = DecisionTreeRegressor(max_depth=depth)
        estimator.n_outputs_ = tree.n_targets
    else:
        estimator = DecisionTreeClassifier(max_depth=depth)
        estimator.classes_ = labels
        estimator.n_classes_ = np.int64(tree.n_classes)
        estimator.n_outputs_ = 1
    estimator.n_features_in_ = tree.n_features
    estimator.max_features_ = tree.n_features
    if feature_names is not None:
        estimator.feature_names_in_ = np.asarray(feature_names, dtype=object)
    estimator.tree_ = _grown(tree)
    return estimator


def _pipeline(tree: Tree, labels: Array, feature_names: ArrayLike | None) -> Any:
    """Every set of categories that goes left is an encoder of its own: its members come first."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OrdinalEncoder

    assert tree.columns is not None
    names: list[Any] = list(range(tree.n_features))
    if feature_names is not None:
        names = np.asarray(feature_names, dtype=object).tolist()
    parts: list[tuple[str, Any, list[Any]]] = []
    feature, threshold = tree.feature.copy(), tree.threshold.copy()
    places: dict[Any, int] = {}
    for node in np.flatnonzero(tree.feature != LEAF).tolist():
        source = int(tree.feature[node])
        column = tree.columns[source]
        left = np.zeros(0, dtype=bool)
        if tree.members is not None and column.kind == "category":
            left = tree.members[node, : len(column.categories)]
        key = source if column.kind == "number" else (source, left.tobytes())
        if key not in places:
            places[key] = len(parts)
            encoder: Any = "passthrough"
            if column.kind == "category":
                encoder = OrdinalEncoder(
                    categories=[np.array([*column.some(left), *column.some(~left)])],
                    handle_unknown="use_encoded_value",
                    unknown_value=np.nan,
                )
            parts.append((f"{column.name} {len(parts)}", encoder, [names[source]]))
        feature[node] = places[key]
        if column.kind == "category":
            threshold[node] = left.sum() - 0.5
    if not parts:
        parts = [("nothing", "drop", [])]
    splits: dict[str, Any] = {"feature": feature, "threshold": threshold}
    bare: dict[str, Any] = dict.fromkeys(("members", "columns", "decision", "class_counts"))
    encoded = replace(tree, n_features=len(parts), **splits, **bare)
    coding = ColumnTransformer(parts, sparse_threshold=0)
    coding.fit(_example(tree.columns, feature_names))
    return Pipeline([("columns", coding), ("tree", _estimator(encoded, labels, None))])


def _example(columns: Sequence[Column], feature_names: ArrayLike | None) -> Any:
    """One row that the encoders of a pipeline can be fitted to; they know all they need."""
    row = [column.categories[0] if column.categories else 0.0 for column in columns]
    if feature_names is None:
        return np.array([row], dtype=object)
    from pandas import DataFrame

    return DataFrame([row], columns=np.asarray(feature_names, dtype=object))


def from_sklearn(estimator: DecisionTreeClassifier | DecisionTreeRegressor) -> Tree:
    """The tree of a fitted ``DecisionTreeRegressor`` or single-output ``DecisionTreeClassifier``.

    Columns of ``value`` follow ``estimator.classes_``. The side of missing values is kept where
    it is not the one with more training rows.
    """
    check_is_fitted(estimator)
    kind: type[Tree] = RegressionTree
    value = estimator.tree_.value[:, :, 0]
    if not isinstance(estimator, DecisionTreeRegressor):
        kind, weights = Tree, estimator.tree_.value[:, 0, :]
        value = weights / weights.sum(axis=1, keepdims=True)
    if kind is Tree and estimator.n_outputs_ != 1:
        raise ValueError("only trees with one output can be converted; fit one tree per output")
    grown = estimator.tree_
    leaf = grown.children_left == LEAF
    tree = kind(
        children_left=grown.children_left,
        children_right=grown.children_right,
        feature=np.where(leaf, LEAF, grown.feature),
        threshold=np.where(leaf, np.nan, grown.threshold),
        value=value,
        n_features=int(estimator.n_features_in_),
        n_node_samples=grown.n_node_samples,
        missing_left=grown.missing_go_to_left.astype(bool) & ~leaf,
    )
    usual = replace(tree, missing_left=None) if np.isfinite(tree.threshold[~leaf]).all() else tree
    same = np.array_equal(missing_goes_left(usual), missing_goes_left(tree))
    return usual if same else tree


def _grown(tree: Tree) -> Any:
    """scikit-learn's own tree object with the content of ``tree``."""
    # Type and node layout of compiled trees in the installed scikit-learn.
    stump = DecisionTreeClassifier(max_depth=1).fit([[0.0], [1.0]], [0, 1]).tree_
    compiled_type, node_type = type(stump), stump.__getstate__()["nodes"].dtype
    leaf = tree.children_left == LEAF
    if isinstance(tree, RegressionTree):
        weight, variance = tree.spread()
        impurity, values = variance.mean(axis=1), tree.value[:, :, np.newaxis]
        n_classes = np.ones(tree.n_targets, dtype=np.intp)
    else:
        weight, shares = weights_and_values(tree)
        impurity, values = 1.0 - (shares**2).sum(axis=1), shares[:, np.newaxis, :]
        n_classes = np.array([tree.n_classes], dtype=np.intp)
    nodes = np.zeros(tree.node_count, dtype=node_type)
    nodes["left_child"] = tree.children_left
    nodes["right_child"] = tree.children_right
    nodes["feature"] = np.where(leaf, -2, tree.feature)
    # Numbers of a table are rounded to float32 before they are compared.
    rounded = tree.threshold.astype(np.float32).astype(np.float64)
    nodes["threshold"] = np.where(leaf, -2.0, tree.threshold if tree.columns is None else rounded)
    nodes["missing_go_to_left"] = missing_goes_left(tree)
    nodes["impurity"] = impurity
    nodes["n_node_samples"] = weight if tree.n_node_samples is None else tree.n_node_samples
    nodes["weighted_n_node_samples"] = weight
    state = {
        "max_depth": tree.depth,
        "node_count": tree.node_count,
        "nodes": nodes,
        "values": np.ascontiguousarray(values),
    }
    # The state of a compiled tree may be set once only: a second time would not make room.
    compiled = compiled_type(tree.n_features, n_classes, len(n_classes))
    compiled.__setstate__(state)
    return compiled
