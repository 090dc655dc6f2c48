"""The teacher, a random forest, and the lesson that it gives: soft labels of real and new rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_ROWS = 10_000
"""Rows per tree of the forest, and rows among which neighbours are looked for."""
NEIGHBOURS = 5
PLAIN_DEPTH = 10
HELD_OUT = 2_000
"""New rows that choose between trees."""
SMALL_ERROR = 0.1
"""A forest that errs less is joined by the labels themselves, and its tree may be larger."""


@dataclass(frozen=True, eq=False)
class Taught:
    """Rows with probabilities to learn, and further ones to choose by.

    Attributes
    ----------
    codes, shares, weight : real rows, then new ones, which together weigh as much.
    held_codes, held_shares : new rows that no tree learns from.
    error : weighted share of real rows that the forest gets wrong out of bag.
    plain_leaves : leaves of CART of depth 10; data that it can tell apart with few need no more.
    """

    codes: NDArray[np.uint8]
    shares: NDArray[np.float64]
    weight: NDArray[np.float64]
    held_codes: NDArray[np.uint8]
    held_shares: NDArray[np.float64]
    error: float
    plain_leaves: int


def taught(
    codes: NDArray[np.uint8],
    y: NDArray[np.int64],
    weight: NDArray[np.float64],
    n_classes: int,
    n_trees: int,
    n_synthetic: int,
    label_share: float | None,
    seed: int,
    n_jobs: int | None,
) -> Taught:
    """Let a forest learn the rows, and label them out of bag, and new rows.

    Parameters
    ----------
    codes, y, weight : real rows; the mean weight is 1.
    n_trees : of the forest.
    n_synthetic : new rows to learn from.
    label_share : weight of the labels themselves among the soft labels; ``None`` for ½ where the
        forest errs in fewer than a tenth of the rows, else 0.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    plain = DecisionTreeClassifier(max_depth=PLAIN_DEPTH, random_state=seed)
    forest = RandomForestClassifier(
        n_trees,
        oob_score=True,
        max_samples=MOST_ROWS if len(y) > MOST_ROWS else None,
        random_state=seed,
        n_jobs=n_jobs,
    )
    with warnings.catch_warnings():  # with few trees or rows some row is in every bag
        warnings.filterwarnings("ignore", message="Some inputs do not have OOB scores")
        warnings.filterwarnings("ignore", category=RuntimeWarning)
        forest.fit(codes, y, sample_weight=weight)
    soft = _out_of_bag(forest, y, n_classes)
    wrong = soft.argmax(axis=1) != y
    error = float(weight[wrong].sum() / weight.sum())
    if label_share is None:
        label_share = 0.5 if error < SMALL_ERROR else 0.0
    shares = label_share * np.eye(n_classes)[y] + (1 - label_share) * soft
    new = new_rows(codes, n_synthetic + HELD_OUT, np.random.default_rng(seed))
    new_shares = _over_classes(forest.predict_proba(new), forest.classes_, n_classes)
    learned = slice(0, n_synthetic)
    each = weight.sum() / n_synthetic if n_synthetic else 0.0
    return Taught(
        np.ascontiguousarray(np.concatenate([codes, new[learned]])),
        np.concatenate([shares, new_shares[learned]]),
        np.concatenate([weight, np.full(n_synthetic, each)]),
        np.ascontiguousarray(new[n_synthetic:]),
        new_shares[n_synthetic:],
        error,
        max(2, int(plain.fit(codes, y).get_n_leaves())),
    )


def new_rows(codes: NDArray[np.uint8], n: int, random: np.random.Generator) -> NDArray[np.uint8]:
    """Rows between real ones: each cell from a row or, half the time, from one of its neighbours.

    Distances are Euclidean over columns of standard deviation 1.
    """
    from sklearn.neighbors import NearestNeighbors

    if len(codes) > MOST_ROWS:
        codes = codes[np.sort(random.choice(len(codes), MOST_ROWS, replace=False))]
    base = random.integers(0, len(codes), n)
    spread = codes.std(axis=0)
    scaled = codes / np.where(spread > 0, spread, 1.0)
    drawn, place = np.unique(base, return_inverse=True)
    search = NearestNeighbors(n_neighbors=min(NEIGHBOURS + 1, len(codes))).fit(scaled)
    near = search.kneighbors(scaled[drawn], return_distance=False)[:, 1:]  # the first is itself
    other = near[place, random.integers(0, near.shape[1], n)]
    theirs = random.random((n, codes.shape[1])) < 0.5
    return np.where(theirs, codes[other], codes[base])


def _out_of_bag(forest: Any, y: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    """Probabilities by the trees that did not learn a row; its label where there is none."""
    found = np.nan_to_num(np.asarray(forest.oob_decision_function_))
    soft = _over_classes(found, forest.classes_, n_classes)
    never = soft.sum(axis=1) <= 0
    soft[never] = np.eye(n_classes)[y[never]]
    return np.asarray(soft / soft.sum(axis=1, keepdims=True))


def _over_classes(
    shares: NDArray[Any], classes: NDArray[Any], n_classes: int
) -> NDArray[np.float64]:
    full = np.zeros((len(shares), n_classes))
    full[:, classes.astype(np.intp)] = shares
    return full
