"""Trees as programs: an expression of SQL, a function of Python."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtree.columns.coding import Column
from gradtree.trees.regression_tree import RegressionTree
from gradtree.trees.traversal import missing_goes_left
from gradtree.trees.tree import LEAF, Tree
from gradtree.typing import Names
from gradtree.units.cuts import cut_text
from gradtree.views.rules import described_columns


def export_sql(
    tree: Tree,
    *,
    feature_names: Names = None,
    class_names: Names = None,
    probability_of: Any = None,
    target: int = 0,
) -> str:
    """The tree as one expression of standard SQL, ``CASE WHEN … THEN … ELSE … END``.

    Parameters
    ----------
    tree, feature_names, class_names
        As in :func:`gradtree.decision_rules`; names of the columns are those in the database, and
        classes may be numbers or text.
    probability_of : label, optional
        Give the probability of this class instead of the label.
    target : int, default=0
        Which of several numbers a regression tree gives.
    """
    labels = list(range(tree.n_classes)) if class_names is None else list(class_names)
    if isinstance(tree, RegressionTree):
        ends = [repr(float(number)) for number in tree.value[:, target]]
    elif probability_of is None:
        ends = [_sql_value(labels[label]) for label in tree.labels]
    else:
        ends = [repr(float(share)) for share in tree.value[:, labels.index(probability_of)]]
    columns = described_columns(tree, feature_names)

    def told(node: int, margin: str) -> str:
        if tree.children_left[node] == LEAF:
            return ends[node]
        condition = _sql_condition(tree, node, columns[tree.feature[node]])
        left = told(int(tree.children_left[node]), margin + "  ")
        right = told(int(tree.children_right[node]), margin + "  ")
        return (
            f"CASE WHEN {condition} THEN {_below(left, margin)}\n"
            f"{margin}ELSE {_below(right, margin)} END"
        )

    return told(0, "")


def export_python(
    tree: Tree, *, feature_names: Names = None, class_names: Names = None, name: str = "predict"
) -> str:
    """The tree as a function of Python that needs no library.

    It takes one row, a mapping from the names of columns to values, and returns the label, or the
    number (a tuple of several).
    Missing values are ``None`` or ``nan``; dates are ``datetime`` without a zone.
    """
    labels = list(range(tree.n_classes)) if class_names is None else list(class_names)
    labels = [label.item() if hasattr(label, "item") else label for label in labels]
    if isinstance(tree, RegressionTree):
        numbers = tree.value.tolist()
        ends = [repr(own[0] if len(own) == 1 else tuple(own)) for own in numbers]
    else:
        ends = [repr(labels[label]) for label in tree.labels]
    columns = described_columns(tree, feature_names)
    missing = missing_goes_left(tree)
    lines = [f"def {name}(row):"]
    if any(columns[feature].kind == "date" for feature in tree.feature if feature != LEAF):
        lines.insert(0, "from datetime import datetime\n\n")

    def tell(node: int, margin: str) -> None:
        if tree.children_left[node] == LEAF:
            lines.append(f"{margin}return {ends[node]}")
            return
        column = columns[tree.feature[node]]
        lines.append(f"{margin}x = row[{column.name!r}]")
        lines.append(f"{margin}if {_python_condition(tree, node, column, bool(missing[node]))}:")
        tell(int(tree.children_left[node]), margin + "    ")
        lines.append(f"{margin}else:")
        tell(int(tree.children_right[node]), margin + "    ")

    tell(0, "    ")
    return "\n".join(lines) + "\n"


def _checked(column: Column) -> None:
    if column.kind == "duration" or column.from_text or column.as_text:
        raise ValueError(
            f"column {column.name!r} holds durations, categories of several types or numbers "
            "written as text, which cannot be exported as code; convert it before training"
        )


def _python_condition(tree: Tree, node: int, column: Column, missing: bool) -> str:
    _checked(column)
    if column.kind == "category":
        inside, outside = _sides(tree, node, column)
        return f"x not in {outside!r}" if missing else f"x in {inside!r}"
    threshold = _exact(tree, node)
    if not np.isfinite(threshold):
        known = "x is not None and x == x"
        if threshold > 0:
            return "True" if missing else known
        return f"not ({known})" if missing else "False"
    border = f"datetime.fromisoformat({_moment(threshold)!r})"
    border = border if column.kind == "date" else repr(threshold)
    if missing:
        return f"x is None or not x > {border}"
    return f"x is not None and x <= {border}"


def _sql_condition(tree: Tree, node: int, column: Column) -> str:
    _checked(column)
    missing = bool(missing_goes_left(tree)[node])
    name = '"' + column.name.replace('"', '""') + '"'
    if column.kind == "category":
        inside, outside = _sides(tree, node, column)
        if missing and outside:
            return f"({name} IS NULL OR {name} NOT IN ({_listed(outside)}))"
        return f"{name} IN ({_listed(inside)})" if inside else "1 = 0"
    threshold = _exact(tree, node)
    if not np.isfinite(threshold):
        if threshold > 0:
            return "1 = 1" if missing else f"{name} IS NOT NULL"
        return f"{name} IS NULL" if missing else "1 = 0"
    border = f"TIMESTAMP '{_moment(threshold)}'" if column.kind == "date" else repr(threshold)
    below = f"{name} <= {border}"
    return f"({below} OR {name} IS NULL)" if missing else below


def _exact(tree: Tree, node: int) -> float:
    """A threshold that parts numbers of double precision as the tree does.

    A tree over a plain matrix compares them after rounding to ``float32``.
    """
    threshold = float(tree.threshold[node])
    if tree.columns is not None or not np.isfinite(threshold):
        return threshold
    below = np.float32(threshold)
    below = below if below <= threshold else np.nextafter(below, np.float32(-np.inf))
    above = np.nextafter(below, np.float32(np.inf))
    middle = float(below) / 2 + float(above) / 2
    return middle if np.float32(middle) <= below else float(np.nextafter(middle, -np.inf))


def _sides(tree: Tree, node: int, column: Column) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    assert tree.members is not None
    left = tree.members[node, : len(column.categories)]
    return column.some(left), column.some(~left)


def _moment(microseconds: float) -> str:
    text = cut_text(microseconds, "date")
    return text if " " in text else f"{text} 00:00:00"


def _listed(categories: Sequence[Any]) -> str:
    return ", ".join(_sql_value(category) for category in categories)


def _sql_value(value: Any) -> str:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"


def _below(text: str, margin: str) -> str:
    """A nested expression on a line of its own."""
    return f"\n{margin}  {text}" if text.startswith("CASE") else text
