"""Trees over preprocessed numbers, as trees over the raw columns they come from. Which column a
number depends on is read off raw rows: it changes when these exchange their values of that column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from experiments.text import NO_NEW_ROW

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from datasets.split import Split
    from gradtree.columns.coding import Column
    from gradtree.trees.tree import Tree
    from gradtree.units.encoding import EncodedColumn


def tree_entry(
    tree: Tree, split: Split, raw: pd.DataFrame | None, run: Mapping[str, Any]
) -> dict[str, Any]:
    """One entry of a file of trees: every split in words, in raw units or those of training."""
    from gradtree.units.conditions import NOTHING
    from gradtree.views.rules import describe

    def words(condition: Any) -> str:
        return NO_NEW_ROW if condition.brief == NOTHING else condition.brief.replace("<=", "≤")

    if raw is None:
        splits = describe(tree, split.feature_names)
    else:
        splits = describe(in_raw_units(tree, split.preprocessing, raw))
    names = ("method", "experiment", "protocol", "trial", "seed", "test_f1")
    return {
        **{name: run[name] for name in names},
        "class_names": list(split.class_names),
        "tree": tree.to_dict(),
        "splits": {
            str(node): [sides.column, words(sides.left), words(sides.right)]
            for node, sides in sorted(splits.items())
        },
    }


def in_raw_units(tree: Tree, preprocessing: Any, raw: pd.DataFrame) -> Tree:
    """The same tree over the columns of ``raw``, best the rows of training, on which both agree.

    Every column that the fitted ``preprocessing`` makes depends on one raw column only, and rises
    with it if that holds numbers. Borders have as few digits as tell the rows apart.
    """
    from gradtree.columns.coding import coded_matrix, learn_columns
    from gradtree.columns.frames import frame_columns
    from gradtree.units.encoding import table_tree

    def transformed(rows: pd.DataFrame) -> NDArray[np.float32]:
        return np.asarray(preprocessing.transform(rows)).astype(np.float32)

    rows = frame_columns(raw)
    columns = learn_columns(rows, np.arange(len(raw)), [False] * len(rows))
    coded, matrix = coded_matrix(rows, columns), transformed(raw)
    order = np.random.default_rng(0).permutation(len(raw))
    changes = np.zeros((raw.shape[1], matrix.shape[1]), dtype=bool)
    for place, name in enumerate(raw.columns):
        exchanged = raw.assign(**{name: raw[name].iloc[order].set_axis(raw.index)})
        changes[place] = (transformed(exchanged) != matrix).any(axis=0)
    if (changes.sum(axis=0) > 1).any():
        raise ValueError("the preprocessing mixes raw columns, so its splits have no raw units")
    inner = [
        _observed(source, columns[source], coded[:, source], matrix[:, place])
        for place, source in enumerate(changes.argmax(axis=0).tolist())
    ]
    return table_tree(tree, inner, columns, coded, simplify=False)[0]


def _observed(
    source: int, column: Column, values: NDArray[Any], numbers: NDArray[np.float32]
) -> EncodedColumn:
    """What the preprocessing makes of the values of one column."""
    from gradtree.units.encoding import EncodedColumn, between

    gaps = np.isnan(values)
    missing = float(numbers[gaps][0]) if gaps.any() else float(np.median(numbers))
    points, first = np.unique(values[~gaps], return_index=True)
    scores = numbers[~gaps][first]
    if column.kind == "category":
        every = np.full(len(column.categories), missing, dtype=np.float32)
        every[points.astype(np.intp)] = scores
        return EncodedColumn(source, None, every, missing)
    if (np.diff(scores) < 0).any():
        raise ValueError(f"the preprocessing does not keep the order of {column.name!r}")
    if not len(points):
        points, scores = np.zeros(1), np.array([missing], dtype=np.float32)
    return EncodedColumn(source, between(points), scores, missing)
