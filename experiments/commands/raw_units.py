"""A tree over preprocessed numbers as one over the raw columns they come from.

Which raw column a preprocessed one depends on, and how, is read off raw rows: the same
rows, column by column exchanged among each other, tell which numbers change with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

    from gradtree.columns.coding import Column
    from gradtree.trees.tree import Tree
    from gradtree.units.scales import InnerColumn


def in_raw_units(tree: Tree, preprocessing: Any, raw: pd.DataFrame) -> Tree:
    """The same tree over the columns of ``raw``, on whose rows both agree.

    Parameters
    ----------
    tree : over the columns that ``preprocessing`` makes.
    preprocessing : fitted; every column it makes depends on one raw column only, and rises with
        it if that holds numbers.
    raw : rows, best those of training, which decide where between two values a border lies.
    """
    from gradtree.columns.coding import coded_matrix, learn_columns
    from gradtree.columns.frames import frame_columns
    from gradtree.units.inner import table_tree

    rows = frame_columns(raw)
    columns = learn_columns(rows, np.arange(len(raw)), [False] * len(rows))
    coded = coded_matrix(rows, columns)
    matrix = _transformed(preprocessing, raw)
    sources = _sources(preprocessing, raw, matrix)
    inner = [
        _observed(source, columns[source], coded[:, source], matrix[:, place])
        for place, source in enumerate(sources)
    ]
    return table_tree(tree, inner, columns, coded, simplify=False)


def _transformed(preprocessing: Any, raw: pd.DataFrame) -> NDArray[np.float32]:
    return np.asarray(preprocessing.transform(raw)).astype(np.float32)


def _sources(preprocessing: Any, raw: pd.DataFrame, matrix: NDArray[np.float32]) -> list[int]:
    """The raw column that each preprocessed one depends on."""
    order = np.random.default_rng(0).permutation(len(raw))
    changes = np.zeros((raw.shape[1], matrix.shape[1]), dtype=bool)
    for place, name in enumerate(raw.columns):
        exchanged = raw.assign(**{name: raw[name].iloc[order].set_axis(raw.index)})
        changes[place] = (_transformed(preprocessing, exchanged) != matrix).any(axis=0)
    if (changes.sum(axis=0) > 1).any():
        raise ValueError("the preprocessing mixes raw columns, so its splits have no raw units")
    return changes.argmax(axis=0).tolist()


def _observed(
    source: int, column: Column, values: NDArray[Any], numbers: NDArray[np.float32]
) -> InnerColumn:
    """What the preprocessing makes of the values of one column."""
    from gradtree.units.scales import InnerColumn, between

    gaps = np.isnan(values)
    missing = float(numbers[gaps][0]) if gaps.any() else float(np.median(numbers))
    points, first = np.unique(values[~gaps], return_index=True)
    scores = numbers[~gaps][first]
    if column.kind == "category":
        every = np.full(len(column.categories), missing, dtype=np.float32)
        every[points.astype(np.intp)] = scores
        return InnerColumn(source, None, every, missing)
    if (np.diff(scores) < 0).any():
        raise ValueError(f"the preprocessing does not keep the order of {column.name!r}")
    if not len(points):
        points, scores = np.zeros(1), np.array([missing], dtype=np.float32)
    return InnerColumn(source, between(points), scores, missing)
