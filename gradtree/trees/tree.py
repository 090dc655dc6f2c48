"""The canonical trees, of classes and of numbers: flat arrays, one entry per node."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradtree.columns.coding import Column, coded_matrix
from gradtree.columns.frames import array_columns, frame_columns, is_frame
from gradtree.trees.readable import Readable
from gradtree.trees.traversal import LEAF as LEAF
from gradtree.trees.traversal import (
    leaves_reached,
    node_depths,
    weights_and_values,
)
from gradtree.typing import Array, Codes, Flags, Floats, Places


@dataclass(frozen=True, eq=False)
class Tree(Readable):
    """A hard, axis-aligned decision tree.

    Node 0 is the root and children come after their parents. Without ``columns``, the tree is one
    over a matrix of numbers: a sample goes to ``children_left`` when ``float32(x[feature]) <=
    threshold`` and to ``children_right`` otherwise, as in scikit-learn. With ``columns``, numbers
    and dates are compared in the precision they come in, categories looked up in ``members``, and
    ``missing_left`` is the side of what is missing and of categories that training did not see. The
    arrays are checked and made read-only; two trees are equal when all their arrays are.

    Attributes
    ----------
    children_left, children_right : ndarray of int32, shape (n_nodes,)
        Child indices; ``-1`` marks a leaf.
    feature : ndarray of int32, shape (n_nodes,)
        Column tested by an inner node; ``-1`` at leaves.
    threshold : ndarray of float64, shape (n_nodes,)
        Split points; ``nan`` at leaves and at splits of categories, infinite where a split
        parts what is missing from what is known.
    value : ndarray of float64, shape (n_nodes, n_classes)
        Class probabilities. Only those of leaves are used by ``predict_proba``.
    n_features : int
        Number of columns of the matrices that the tree can be applied to.
    n_node_samples : ndarray of int64, shape (n_nodes,), optional
        Training rows that passed through each node, where known.
    missing_left : ndarray of bool, shape (n_nodes,), optional
        Whether missing values go left. Without it they go where more training rows went.
    members : ndarray of bool, shape (n_nodes, n_categories), optional
        The categories, by position in their column, that go left.
    columns : tuple of Column, optional
        The columns of the table.
    decision : ndarray of float64, shape (n_nodes, n_classes), optional
        What each node decides by, where that is not ``value``: shares drawn to rare classes by
        their weights, or what a loss of one's own makes of them. The largest entry is the class
        that is predicted.
    class_counts : ndarray of int64, shape (n_nodes, n_classes), optional
        Training rows of each class that passed through each node, where known.
    """

    children_left: NDArray[np.int32]
    children_right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: Floats
    value: Floats
    n_features: int
    n_node_samples: Codes | None = None
    missing_left: Flags | None = None
    members: Flags | None = None
    columns: tuple[Column, ...] | None = None
    decision: Floats | None = None
    class_counts: Codes | None = None

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
    def labels(self) -> Places:
        """Index of the class that each node predicts, the first one on ties."""
        by = self.value if self.decision is None else self.decision
        return np.asarray(by.argmax(axis=1))

    @property
    def depth(self) -> int:
        """Splits on the longest way from the root to a leaf; 0 for a single leaf."""
        return int(node_depths(self.children_left, self.children_right).max())

    @property
    def feature_importances(self) -> Floats:
        """Share of every column in the decrease of impurity; they sum to 1, or are all 0."""
        impurity = self.impurities()
        inner = np.flatnonzero(self.children_left != LEAF)
        below = impurity[self.children_left[inner]] + impurity[self.children_right[inner]]
        gain = np.bincount(self.feature[inner], impurity[inner] - below, self.n_features)
        gain = np.maximum(gain, 0.0)
        return np.asarray(gain / gain.sum() if gain.sum() > 0 else gain)

    def impurities(self) -> Floats:
        """Gini impurity of the class probabilities of every node, by its training rows.

        All leaves weigh alike where their rows are unknown, as in scikit-learn.
        """
        weight, value = weights_and_values(self)
        return np.asarray(weight * (1.0 - (value**2).sum(axis=1)))

    def apply(self, X: Any) -> Places:
        """Index of the leaf that each row reaches: of numbers, or of a table with its columns."""
        return leaves_reached(self, self.coded(X))

    def coded(self, X: Any) -> Array:
        """A table as the matrix that the tree reads: categories by their positions."""
        rows = None if is_frame(X) else np.asarray(X)
        shape = np.shape(X) if rows is None else rows.shape
        if len(shape) != 2 or shape[1] != self.n_features:
            raise ValueError(
                f"X has shape {shape}, but this tree needs (n_rows, {self.n_features}); "
                "pass the same columns as in training, a single row as X.reshape(1, -1)"
            )
        numbers = self.members is None and rows is not None and rows.dtype.kind in "iufb"
        if self.columns is None or numbers:
            return np.asarray(X)
        given = frame_columns(X) if rows is None else array_columns(rows)
        return coded_matrix(given, self.columns)

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the leaf that each row reaches, shape (n_rows, n_classes)."""
        return self.value[self.apply(X)]

    def predict(self, X: Any) -> Places:
        """Class index, the first one on ties."""
        return np.asarray(self.labels[self.apply(X)])

    def value_defect(self) -> str | None:
        """What is wrong with the values, or ``None``."""
        for table in (self.value, self.decision):
            shares = table[self.children_left == LEAF] if table is not None else np.ones((1, 1))
            if not np.all(shares >= 0) or not np.allclose(shares.sum(axis=1), 1.0, atol=1e-6):
                return "the values of a leaf must be class probabilities, which sum to 1"
        return None

    def _shown(self, options: dict[str, Any], code: bool = False) -> tuple[Tree, dict[str, Any]]:
        return self, options

    def _repr_svg_(self) -> str | None:
        """The drawing that notebooks show, if matplotlib is there to make it."""
        try:
            return self.export_svg()
        except ImportError:
            return None

    def to_sklearn(self, **labels: Any) -> Any:
        """A fitted scikit-learn tree or pipeline; see :func:`gradtree.trees.bridge.to_sklearn`."""
        from gradtree.trees.bridge import to_sklearn

        return to_sklearn(self, **labels)

    @classmethod
    def from_sklearn(cls, estimator: Any) -> Tree:
        """The tree of a fitted estimator; see :func:`gradtree.trees.bridge.from_sklearn`."""
        from gradtree.trees.bridge import from_sklearn

        return from_sklearn(estimator)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers that JSON can hold.

        Thresholds of leaves become ``None``, categories lists of positions.
        """
        content: dict[str, Any] = {"format": self._format(), "n_features": self.n_features}
        for name in ARRAY_TYPES:
            array = getattr(self, name)
            if array is not None or name not in TABLE_PARTS + COUNTED_PARTS:
                content[name] = None if array is None else array.tolist()
        content["threshold"] = [_stored(t) for t in content["threshold"]]
        if self.columns is not None:
            content["columns"] = [column.to_dict() for column in self.columns]
        if self.members is not None:
            content["members"] = [np.flatnonzero(row).tolist() for row in self.members]
            content["n_categories"] = self.members.shape[1]
        return content

    def _format(self) -> str:
        """By what the tree has: numbers alone; columns of a table; rows by class or a decision."""
        parts = {name for name in TABLE_PARTS + COUNTED_PARTS if getattr(self, name) is not None}
        return FORMATS[2 if parts & {*COUNTED_PARTS} else bool(parts)]

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Tree:
        """Inverse of :meth:`to_dict`, exact to the last bit."""
        given = dict(content)
        known = (*FORMATS, REGRESSION_FORMAT)
        form = given.pop("format", None)
        if form not in known:
            raise ValueError(
                f"cannot read a tree of format {content.get('format')!r}; expected one of "
                f"{', '.join(map(repr, known))}, as written by Tree.to_dict and Tree.to_json"
            )
        width = given.pop("n_categories", None)
        names = {field.name for field in fields(Tree)}
        needed = names - {*TABLE_PARTS, *COUNTED_PARTS}
        if not needed <= set(given) <= names:
            odd = sorted(needed - set(given) | set(given) - names)
            raise ValueError(f"missing or unknown keys in a stored tree: {', '.join(odd)}")
        given["threshold"] = [np.nan if t is None else float(t) for t in content["threshold"]]
        if width is not None:
            members = np.zeros((len(given["feature"]), width), dtype=bool)
            for row, codes in zip(members, given["members"], strict=True):
                row[codes] = True
            given["members"] = members
        if given.get("columns") is not None:
            given["columns"] = tuple(Column.from_dict(column) for column in given["columns"])
        from gradtree.trees.regression_tree import RegressionTree

        return (RegressionTree if form == REGRESSION_FORMAT else Tree)(**given)

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Tree:
        return cls.from_dict(json.loads(text))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        same = type(self), self.n_features, self.columns
        if same != (type(other), other.n_features, other.columns):
            return False
        return all(_same(getattr(self, name), getattr(other, name)) for name in ARRAY_TYPES)

    def __hash__(self) -> int:
        return hash((self.n_features, self.feature.tobytes(), self.threshold.tobytes()))

    def __repr__(self) -> str:
        width = "n_targets" if hasattr(self, "n_targets") else "n_classes"
        return (
            f"{type(self).__name__}(node_count={self.node_count}, n_leaves={self.n_leaves}, "
            f"n_features={self.n_features}, {width}={self.value.shape[1]})"
        )


ARRAY_TYPES: dict[str, Any] = {
    "children_left": np.int32,
    "children_right": np.int32,
    "feature": np.int32,
    "threshold": np.float64,
    "value": np.float64,
    "n_node_samples": np.int64,
    "missing_left": np.bool_,
    "members": np.bool_,
    "decision": np.float64,
    "class_counts": np.int64,
}
FORMATS = tuple(f"gradtree.Tree/{version}" for version in (1, 2, 3))
TABLE_PARTS = ("missing_left", "members", "columns")
COUNTED_PARTS = ("decision", "class_counts")
REGRESSION_FORMAT = "gradtree.RegressionTree/1"


def _same(one: Array | None, other: Array | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def _stored(threshold: float) -> float | str | None:
    """A threshold as JSON knows it: no ``nan`` and no infinity."""
    if threshold != threshold:
        return None
    return threshold if np.isfinite(threshold) else str(threshold)


def defect(tree: Tree) -> str | None:
    """What is wrong with the arrays of a tree, or ``None``."""
    n_nodes = tree.feature.size
    vectors = ["children_left", "children_right", "feature", "threshold"]
    vectors += [n for n in ("n_node_samples", "missing_left") if getattr(tree, n) is not None]
    shapes = {name: getattr(tree, name).shape for name in vectors}
    if n_nodes == 0 or any(shape != (n_nodes,) for shape in shapes.values()):
        return f"one entry per node is needed everywhere, but the shapes are {shapes}"
    for name in ("value", "members", "decision", "class_counts"):
        table = getattr(tree, name)
        if table is not None and (table.ndim != 2 or len(table) != n_nodes or not table.shape[1]):
            return f"{name} needs the shape ({n_nodes}, …), but has {table.shape}"
        if table is not None and name != "members" and table.shape[1] != tree.n_classes:
            return f"{name} has {table.shape[1]} classes, but value has {tree.n_classes}"
    if tree.columns is not None and len(tree.columns) != tree.n_features:
        return f"{len(tree.columns)} columns for {tree.n_features} features"
    for name in ("n_node_samples", "class_counts"):
        if getattr(tree, name) is not None and np.any(getattr(tree, name) < 0):
            return f"{name} cannot be negative"
    return _bad_structure(tree) or _bad_splits(tree) or tree.value_defect()


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
    kinds = ["number" if tree.columns is None else tree.columns[c].kind for c in columns]
    by_category = np.array([kind == "category" for kind in kinds], dtype=bool)
    thresholds = tree.threshold[~leaf]
    if by_category.any() and (tree.members is None or tree.missing_left is None):
        return "splits of categories need members and missing_left"
    if not np.array_equal(np.isnan(thresholds), by_category):
        return "thresholds must be finite at splits of numbers, and nan at splits of categories"
    if tree.missing_left is None and np.isinf(thresholds).any():
        return "thresholds must be finite numbers where missing_left does not part the missing"
    return None
