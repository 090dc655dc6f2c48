"""Columns of a table as those of the matrix that a tree is trained on, and a tree back again.

A gradient needs columns of one scale. So numbers are cut into steps that each have a score, and so
does every category. Scores of numbers keep their order, so a threshold on the scores is a cut of
the raw numbers, or a set of categories: exactly, as a value's side is decided by its step alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from gradtree.columns.coding import Column, Kind
from gradtree.trees.simplify import rebuilt
from gradtree.trees.tree import LEAF, Tree
from gradtree.typing import Array, Codes, Flags, Floats, Places
from gradtree.units.cuts import cut_between, too_fine

# A column of numbers has at most so many steps, learned from about so many rows.
MOST_STEPS = 10_000
ROWS_FOR_STEPS = 100_000
# Categories with fewer rows than this are lumped together; the shares of classes of the others
# are drawn towards those of all rows, as if each category had so many rows of the average.
RARE = 5
PRIOR_ROWS = 5.0
# Gaps are put where the classes of the numbers are most like theirs, among so many parts.
PARTS = 10


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """A column of the training matrix, made of one column of the table."""

    source: int  # position of that column
    cuts: Floats | None  # ascending borders of steps of numbers; None for categories
    scores: NDArray[np.float32]  # one per step (one more than cuts, ascending), or per category
    missing: float  # the score of a gap, and of a category that training did not see

    def of(self, values: Array) -> NDArray[np.float32]:
        gaps = np.isnan(values)
        if self.cuts is None:
            steps = np.where(gaps, 0, values).astype(np.intp)
        else:
            steps = np.searchsorted(self.cuts, values, side="left")
            steps[gaps] = 0
        scores = self.scores[steps]
        scores[gaps] = self.missing
        return scores


# Weight of every class, or end of the targets, in every group of rows: shape (n_groups, n_classes).
Shares = Callable[[Places, int], Floats]


def class_shares(y: Codes, weight: Floats, n_classes: int) -> Shares:
    """Of the classes of rows."""

    def shares(group: Places, n_groups: int) -> Floats:
        weights = np.bincount(group * n_classes + y, weight, n_groups * n_classes)
        return np.asarray(weights.reshape(n_groups, n_classes), dtype=np.float64)

    return shares


def number_shares(targets: Floats, weight: Floats) -> Shares:
    """Of two opposite ends of every target, shape (n_groups, n_targets + 1)."""
    span = np.ptp(targets, axis=0)
    high = (targets - targets.min(axis=0)) / np.where(span > 0, span, 1.0) / targets.shape[1]
    ends = np.column_stack([1 - high.sum(axis=1), high])
    return lambda group, n_groups: np.column_stack(
        [np.bincount(group, weight * end, n_groups) for end in ends.T]
    )


def number_columns(
    source: int, values: Array, rows: Places, shares_of: Shares, scale: str | None
) -> list[EncodedColumn]:
    """The steps of a column of numbers, and a column that marks its gaps if it has any."""
    sample = values[:: max(1, len(values) // ROWS_FOR_STEPS)].astype(np.float64)
    known = sample[~np.isnan(sample)]
    if not len(known):
        return [EncodedColumn(source, np.empty(0), np.zeros(1, np.float32), 0.0)]
    known.sort()
    first = np.flatnonzero(np.diff(known, prepend=-np.inf) != 0)
    points, counts = known[first], np.diff(first, append=len(known))
    if len(points) > MOST_STEPS:
        places = np.rint(np.linspace(0, 1, MOST_STEPS) * (len(known) - 1)).astype(np.intp)
        points = np.unique(known[places])
        counts = np.diff(np.searchsorted(known, points, side="right"), prepend=0)
    column = EncodedColumn(source, between(points), scaled(points, counts, scale), 0.0)
    own = values[rows]
    gaps, middle = np.isnan(own), len(own) // 2
    if not gaps.any():  # scores rise with the numbers
        median = np.partition(own, middle)[middle : middle + 1]
        return [replace(column, missing=float(column.of(median)[0]))]
    own = column.of(own)
    marks = scaled(np.array([0.0, 1.0]), np.array([np.sum(~gaps), np.sum(gaps)]), scale)
    marker = EncodedColumn(source, np.empty(0), marks[:1], float(marks[1]))
    return [replace(column, missing=_like_gaps(own, gaps, shares_of)), marker]


def between(points: Floats) -> Floats:
    """The middles between ascending points, each below the larger of its two."""
    middles = points[:-1] / 2 + points[1:] / 2
    return np.where((middles >= points[1:]) | (middles < points[:-1]), points[:-1], middles)


def category_column(
    source: int, codes: Array, n_categories: int, shares_of: Shares, scale: str | None
) -> EncodedColumn:
    """Categories in the order of what they tell about the label."""
    group = np.where(np.isnan(codes), n_categories, codes).astype(np.intp)
    told = category_scores(shares_of(group, n_categories + 1))
    points, place = np.unique(told, return_inverse=True)
    counts = np.bincount(place[group], minlength=len(points))
    scores = scaled(points, counts, scale)[place]
    return EncodedColumn(source, None, scores[:-1], float(scores[-1]))


def category_scores(weights: Floats) -> Floats:
    """What categories tell about the label, as one number each, by the weights of their classes.

    Their smoothed shares of classes: of the second class, if there are two, else along the
    direction in which the shares differ most (their first principal component, the order in
    which one cut tells the classes apart best). A category without rows counts as average.
    """
    rows = weights.sum(axis=1)
    average = weights.sum(axis=0) / rows.sum()
    rare = rows < RARE
    lumped = np.where(rare[:, np.newaxis], weights[rare].sum(axis=0), weights)
    lumped[rows == 0] = 0.0
    total = lumped.sum(axis=1, keepdims=True)
    shares = (lumped + PRIOR_ROWS * average) / (total + PRIOR_ROWS)
    if weights.shape[1] == 2:
        return np.round(shares[:, 1], 12)
    centred = shares - average
    _, directions = np.linalg.eigh((centred * rows[:, np.newaxis]).T @ centred)
    first = directions[:, -1]
    return np.round(centred @ (first * np.sign(first[np.abs(first).argmax()])), 12)


def scaled(points: Floats, counts: Places, scale: str | None) -> NDArray[np.float32]:
    """Scores of ascending points that so many rows have."""
    if scale is None:
        with np.errstate(over="ignore"):
            return np.clip(points, *_FLOAT32).astype(np.float32)
    if scale == "quantile":
        share = (np.cumsum(counts) - counts / 2) / counts.sum()
        points = ndtri(np.clip(share, 1e-7, 1 - 1e-7))
    largest = np.abs(points).max()
    points = points / largest if largest > 0 else points
    weight = counts / counts.sum()
    mean = weight @ points
    spread = np.sqrt(weight @ (points - mean) ** 2)
    return ((points - mean) / (spread if spread > 0 else 1.0)).astype(np.float32)


_FLOAT32 = (np.finfo(np.float32).min, np.finfo(np.float32).max)


def _like_gaps(scores: NDArray[np.float32], gaps: Flags, shares_of: Shares) -> float:
    """The middle score of those numbers whose classes are most like those of the gaps."""
    known = scores[~gaps]
    if not len(known):
        return 0.0
    borders = np.unique(np.quantile(known, np.linspace(0, 1, PARTS + 1)[1:-1], method="nearest"))
    part = np.where(gaps, len(borders) + 1, np.searchsorted(borders, scores, side="left"))
    weights = shares_of(part, len(borders) + 2)
    average = weights.sum(axis=0) / weights.sum()
    shares = (weights + PRIOR_ROWS * average) / (weights.sum(axis=1, keepdims=True) + PRIOR_ROWS)
    distance = ((shares[:-1] - shares[-1]) ** 2).sum(axis=1)
    distance[weights[:-1].sum(axis=1) == 0] = np.inf
    members = np.sort(scores[part == distance.argmin()])
    return float(members[len(members) // 2])


def learn_encoding(
    coded: Array, rows: Places, shares_of: Shares, columns: Sequence[Column], scale: str | None
) -> tuple[EncodedColumn, ...]:
    """How the columns of a table become those of the training matrix.

    Learned from the ``rows`` that the tree is trained on, with their labels.
    """
    inner: list[EncodedColumn] = []
    for source, column in enumerate(columns):
        values = coded[:, source]
        if column.left_out:
            continue
        width = len(column.categories)
        if column.kind == "category" and not column.ordered:
            inner.append(category_column(source, values[rows], width, shares_of, scale))
            continue
        numbers = number_columns(source, values, rows, shares_of, scale)
        if column.ordered:
            every = np.arange(width, dtype=np.float64)
            numbers = [EncodedColumn(source, None, one.of(every), one.missing) for one in numbers]
        inner += numbers
    varying = [c for c in inner if np.ptp([*c.scores, c.missing]) > 0]
    return tuple(varying or inner[:1])


def encoded_matrix(coded: Array, inner: Sequence[EncodedColumn]) -> NDArray[np.float32]:
    """The training matrix, shape (n_rows, n_inner_columns)."""
    matrix = np.empty((len(coded), len(inner)), dtype=np.float32)
    for place, column in enumerate(inner):
        matrix[:, place] = column.of(coded[:, column.source])
    return matrix


def table_tree(
    tree: Tree,
    inner: Sequence[EncodedColumn],
    columns: Sequence[Column],
    coded: Array,
    simplify: bool = True,
) -> tuple[Tree, Places]:
    """A tree over the training matrix as one over the table, and where its nodes come from.

    The training rows ``coded`` all take the same way through both trees. They also decide how cuts
    are printed, and are counted. With ``simplify``, splits that send all of them to one side are
    left out; else every node keeps its number.
    """

    @cache
    def known(source: int) -> Floats:
        values = coded[:, source].astype(np.float64)
        return np.unique(values[~np.isnan(values)])

    n_nodes = tree.node_count
    feature, threshold = np.full(n_nodes, LEAF), np.full(n_nodes, np.nan)
    missing, fine = np.zeros((2, n_nodes), dtype=bool)
    counts, origin = np.zeros(n_nodes, dtype=np.int64), np.arange(n_nodes)
    members: dict[int, Flags] = {}
    instead, reach = origin.copy(), {0: np.arange(len(coded))}
    for node in range(n_nodes):
        rows = reach.pop(node)
        counts[node] = len(rows)
        if tree.children_left[node] == LEAF:
            continue
        column, border = inner[tree.feature[node]], tree.threshold[node]
        source = feature[node] = column.source
        values, steps_left = coded[rows, source], column.scores <= border
        gaps = np.isnan(values)
        if column.cuts is None:
            members[node] = steps_left
            left = steps_left[np.where(gaps, 0, values).astype(np.intp)]
        else:
            n_left, kind = int(steps_left.sum()), columns[source].kind
            threshold[node], fine[node] = _cut(column, n_left, known(source), kind)
            left = values <= values.dtype.type(threshold[node])
        if not np.array_equal(left[~gaps], column.of(values[~gaps]) <= border):
            raise RuntimeError(f"a split of {columns[source].name!r} lost its way")
        missing[node] = 2 * np.count_nonzero(left[~gaps]) >= np.count_nonzero(~gaps)
        if columns[source].gaps:
            missing[node] = column.missing <= border
        left[gaps] = missing[node]
        below = int(tree.children_left[node]), int(tree.children_right[node])
        reach[below[0]], reach[below[1]] = rows[left], rows[~left]
        if left.all() or not left.any():
            instead[node] = below[0] if left.all() else below[1]
    if simplify:
        tree, origin = rebuilt(tree, instead=instead)
    sets = {place: members[node] for place, node in enumerate(origin.tolist()) if node in members}
    table = np.zeros((len(origin), max(map(len, sets.values()), default=0)), dtype=bool)
    for place, left in sets.items():
        table[place, : len(left)] = left
    unsure = set(feature[origin][fine[origin]].tolist())
    changed = replace(
        tree,
        feature=feature[origin],
        threshold=threshold[origin],
        n_features=len(columns),
        n_node_samples=counts[origin],
        missing_left=missing[origin],
        members=table if sets else None,
        columns=tuple(replace(c, fine=place in unsure) for place, c in enumerate(columns)),
        class_counts=None,
    )
    return changed, origin


def _cut(column: EncodedColumn, n_left: int, known: Floats, kind: Kind) -> tuple[float, bool]:
    """The number that parts the steps on the left from the others, and whether that is fine."""
    assert column.cuts is not None
    if n_left == 0 or n_left == len(column.scores):
        return (np.inf if n_left else -np.inf), False
    cut = float(column.cuts[n_left - 1])
    place = int(np.searchsorted(known, cut, side="right"))
    if place == 0 or place == len(known):
        return cut, False
    low, high = float(known[place - 1]), float(known[place])
    short = cut_between(low, high, kind)
    return short, too_fine(low, short, high)
