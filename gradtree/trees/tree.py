"""The canonical decision tree: parallel flat arrays, one entry per node.

Every learner of the suite that grows an axis-aligned tree is reduced to this
one type, so that size, depth, rules, plots and predictions are computed in
one way for all of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier

    from gradtree.views.rules import Rule

LEAF = -1
FORMAT = "gradtree.Tree/1"


@dataclass(frozen=True, eq=False)
class Tree:
    """A hard, axis-aligned decision tree over ``float32`` features.

    Node 0 is the root and children come after their parents. A sample goes to
    ``children_left`` when ``float32(x[feature]) <= threshold`` and to
    ``children_right`` otherwise, which is scikit-learn's convention. The
    arrays are checked and made read-only; two trees are equal when all their
    arrays are.

    Attributes
    ----------
    children_left, children_right : ndarray of int32, shape (n_nodes,)
        Child indices; ``-1`` marks a leaf.
    feature : ndarray of int32, shape (n_nodes,)
        Column tested by an inner node; ``-1`` at leaves.
    threshold : ndarray of float64, shape (n_nodes,)
        Split points; ``nan`` at leaves.
    value : ndarray of float64, shape (n_nodes, n_classes)
        Class probabilities. Only those of leaves are used by ``predict_proba``.
    n_features : int
        Number of columns of the matrices that the tree can be applied to.
    n_node_samples : ndarray of int64, shape (n_nodes,), optional
        Training rows that passed through each node, where known.
    """

    children_left: NDArray[np.int32]
    children_right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    value: NDArray[np.float64]
    n_features: int
    n_node_samples: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        for name, dtype in ARRAY_TYPES.items():
            given = getattr(self, name)
            if given is not None:
                array = np.array(given, dtype=dtype, order="C")
                array.setflags(write=False)
                object.__setattr__(self, name, array)
        object.__setattr__(self, "n_features", int(self.n_features))
        problem = defect(self)
        if problem:
            raise ValueError(f"not a decision tree: {problem}")

    @property
    def node_count(self) -> int:
        """Inner nodes plus leaves: the size the paper reports."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.children_left == LEAF))

    @property
    def n_classes(self) -> int:
        return int(self.value.shape[1])

    @property
    def depth(self) -> int:
        """Splits on the longest way from the root to a leaf; 0 for a single leaf."""
        from gradtree.trees.traversal import node_depths

        return int(node_depths(self.children_left, self.children_right).max())

    def apply(self, X: ArrayLike) -> NDArray[np.intp]:
        """Index of the leaf that each row of ``X`` reaches."""
        from gradtree.trees.traversal import leaves_reached

        rows = np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise ValueError(
                f"X has shape {rows.shape}, but this tree needs (n_rows, {self.n_features}); "
                "pass the same columns as in training, a single row as X.reshape(1, -1)"
            )
        return leaves_reached(
            rows, self.children_left, self.children_right, self.feature, self.threshold
        )

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Class probabilities of the leaf that each row reaches, shape (n_rows, n_classes)."""
        return self.value[self.apply(X)]

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """Class index, the first one on ties."""
        return np.asarray(self.value.argmax(axis=1)[self.apply(X)])

    def rules(self, **labels: Any) -> list[Rule]:
        """One readable rule per leaf; see :func:`gradtree.views.rules.decision_rules`."""
        from gradtree.views.rules import decision_rules

        return decision_rules(self, **labels)

    def export_text(self, **options: Any) -> str:
        """The tree as indented text; see :func:`gradtree.export_text`."""
        from gradtree.views.export import export_text

        return export_text(self, **options)

    def export_graphviz(self, **options: Any) -> str:
        """The tree in the DOT language; see :func:`gradtree.export_graphviz`."""
        from gradtree.views.export import export_graphviz

        return export_graphviz(self, **options)

    def plot(self, **options: Any) -> Any:
        """Draw the tree with matplotlib; see :func:`gradtree.plot_tree`."""
        from gradtree.views.plot import plot_tree

        return plot_tree(self, **options)

    def to_sklearn(self, **labels: Any) -> DecisionTreeClassifier:
        """A fitted scikit-learn tree; see :func:`gradtree.trees.bridge.to_sklearn`."""
        from gradtree.trees.bridge import to_sklearn

        return to_sklearn(self, **labels)

    @classmethod
    def from_sklearn(cls, estimator: DecisionTreeClassifier) -> Tree:
        """The tree of a fitted classifier; see :func:`gradtree.trees.bridge.from_sklearn`."""
        from gradtree.trees.bridge import from_sklearn

        return from_sklearn(estimator)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers that JSON can hold; leaf thresholds become ``None``."""
        content: dict[str, Any] = {"format": FORMAT, "n_features": self.n_features}
        for name in ARRAY_TYPES:
            array = getattr(self, name)
            content[name] = None if array is None else array.tolist()
        content["threshold"] = [None if t != t else t for t in content["threshold"]]
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Tree:
        """Inverse of :meth:`to_dict`, exact to the last bit."""
        if content.get("format") != FORMAT:
            raise ValueError(
                f"cannot read a tree of format {content.get('format')!r}; expected {FORMAT!r}, "
                "as written by Tree.to_dict and Tree.to_json"
            )
        names = {field.name for field in fields(cls)}
        if set(content) - {"format"} != names:
            odd = sorted(names ^ (set(content) - {"format"}))
            raise ValueError(f"missing or unknown keys in a stored tree: {', '.join(odd)}")
        arrays = {name: content[name] for name in names}
        arrays["threshold"] = [np.nan if t is None else t for t in content["threshold"]]
        return cls(**arrays)

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Tree:
        return cls.from_dict(json.loads(text))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        if self.n_features != other.n_features:
            return False
        return all(_same(getattr(self, name), getattr(other, name)) for name in ARRAY_TYPES)

    def __hash__(self) -> int:
        return hash((self.n_features, self.feature.tobytes(), self.threshold.tobytes()))

    def __repr__(self) -> str:
        return (
            f"Tree(node_count={self.node_count}, n_leaves={self.n_leaves}, "
            f"n_features={self.n_features}, n_classes={self.n_classes})"
        )


ARRAY_TYPES: dict[str, Any] = {
    "children_left": np.int32,
    "children_right": np.int32,
    "feature": np.int32,
    "threshold": np.float64,
    "value": np.float64,
    "n_node_samples": np.int64,
}


def _same(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def defect(tree: Tree) -> str | None:
    """What is wrong with the arrays of a tree, or ``None``."""
    n_nodes = tree.feature.size
    vectors = ["children_left", "children_right", "feature", "threshold"]
    if tree.n_node_samples is not None:
        vectors.append("n_node_samples")
    shapes = {name: getattr(tree, name).shape for name in vectors}
    if n_nodes == 0 or any(shape != (n_nodes,) for shape in shapes.values()):
        return f"one entry per node is needed everywhere, but the shapes are {shapes}"
    if tree.value.ndim != 2 or len(tree.value) != n_nodes or tree.value.shape[1] == 0:
        return f"value needs the shape ({n_nodes}, n_classes), but has {tree.value.shape}"
    return _bad_structure(tree) or _bad_splits(tree) or _bad_values(tree)


def _bad_structure(tree: Tree) -> str | None:
    leaf = tree.children_left == LEAF
    if np.any(leaf != (tree.children_right == LEAF)):
        return "a node has either two children or none (-1 twice)"
    inner = np.flatnonzero(~leaf)
    children = np.concatenate([tree.children_left[inner], tree.children_right[inner]])
    if not np.array_equal(np.sort(children), np.arange(1, tree.feature.size)):
        return "every node but node 0, the root, must be the child of exactly one node"
    if np.any(children <= np.tile(inner, 2)):
        return "children must come after their parents; renumber the nodes from the root down"
    return None


def _bad_splits(tree: Tree) -> str | None:
    leaf = tree.children_left == LEAF
    if np.any(tree.feature[leaf] != LEAF) or not np.all(np.isnan(tree.threshold[leaf])):
        return "leaves need feature -1 and threshold nan"
    columns = tree.feature[~leaf]
    if np.any((columns < 0) | (columns >= tree.n_features)):
        return f"a split tests a column outside 0..{tree.n_features - 1}"
    if not np.all(np.isfinite(tree.threshold[~leaf])):
        return "thresholds of inner nodes must be finite numbers"
    return None


def _bad_values(tree: Tree) -> str | None:
    shares = tree.value[tree.children_left == LEAF]
    if not np.all(shares >= 0) or not np.allclose(shares.sum(axis=1), 1.0, atol=1e-6):
        return "the values of a leaf must be class probabilities, which sum to 1"
    if tree.n_node_samples is not None and np.any(tree.n_node_samples < 0):
        return "n_node_samples cannot be negative"
    return None
