"""Trees as plain lists and numbers, for JSON."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from gradtree.trees.regression_tree import RegressionTree
from gradtree.trees.tree import ARRAY_TYPES, Tree

# By what a tree has: numbers alone; columns of a table; rows by class or a decision of its own.
FORMATS = tuple(f"gradtree.Tree/{version}" for version in (1, 2, 3))
REGRESSION_FORMAT = "gradtree.RegressionTree/1"
TABLE_PARTS = ("missing_left", "members", "columns")
COUNTED_PARTS = ("decision", "class_counts")


def tree_to_dict(tree: Tree) -> dict[str, Any]:
    """What JSON can hold; thresholds of leaves become ``None``, categories lists of positions."""
    content: dict[str, Any] = {"format": "", "n_features": tree.n_features}
    for name in ARRAY_TYPES:
        array = getattr(tree, name)
        if array is not None or name not in TABLE_PARTS + COUNTED_PARTS:
            content[name] = None if array is None else array.tolist()
    content["threshold"] = [_stored(t) for t in content["threshold"]]
    if tree.columns is not None:
        content["columns"] = [column.to_dict() for column in tree.columns]
    version = 2 if set(content) & set(COUNTED_PARTS) else bool(set(content) & set(TABLE_PARTS))
    content["format"] = REGRESSION_FORMAT if isinstance(tree, RegressionTree) else FORMATS[version]
    if tree.members is not None:
        content["members"] = [np.flatnonzero(row).tolist() for row in tree.members]
        content["n_categories"] = tree.members.shape[1]
    return content


def tree_from_dict(content: Mapping[str, Any]) -> Tree:
    """Inverse of :func:`tree_to_dict`, exact to the last bit."""
    from gradtree.columns.coding import Column

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
    return (RegressionTree if form == REGRESSION_FORMAT else Tree)(**given)


def _stored(threshold: float) -> float | str | None:
    """A threshold as JSON knows it: no ``nan`` and no infinity."""
    if threshold != threshold:
        return None
    return threshold if np.isfinite(threshold) else str(threshold)
