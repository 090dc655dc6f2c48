"""Folds of rows, rows held out, and the score of a model on some of them."""

import warnings
from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv

from gradtree.typing import Array, Codes, Floats, Places

Fold = tuple[Places, Places]
Folds = list[Fold]


def dealt_folds(cv: Any, y: Codes, used: Places, seed: int) -> Folds:
    """Rows to train on and rows to score, fold by fold.

    ``cv`` is a number (stratified folds, shuffled, but no more than the largest class has rows), a
    splitter of scikit-learn, or pairs of positions among all rows that were given; ``used`` are
    the positions of those in use, whose class indices are ``y``.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        if isinstance(cv, Integral):
            most = max(min(int(cv), int(np.bincount(y).max())), min(int(cv), 2))
            folds = StratifiedKFold(most, shuffle=True, random_state=seed)
            return list(folds.split(y, y))
        if hasattr(cv, "split"):
            return list(cv.split(y, y))
        pairs = list(check_cv(cv, y, classifier=True).split(y, y))
    place = np.full(max(int(np.max(side, initial=0)) for pair in pairs for side in pair) + 1, -1)
    place[used[used < len(place)]] = np.flatnonzero(used < len(place))
    found = [(place[train], place[test]) for train, test in pairs]
    return [(train[train >= 0], test[test >= 0]) for train, test in found]


def score_of(scorer: Any, model: Any, X: Any, y: Array, weight: Floats | None) -> float:
    """The score of a fitted model; weights of rows count if the scorer takes them."""
    weighed = weight is not None and "sample_weight" in signature(scorer).parameters
    try:
        score = float(scorer(model, X, y, sample_weight=weight) if weighed else scorer(model, X, y))
    except ValueError as error:
        raise ValueError(
            f"the scorer cannot score a fold ({error}); take fewer folds (cv), or a scorer that "
            "needs no rows of every class"
        ) from error
    if np.isnan(score):
        raise ValueError(
            "the scorer gave nan on a fold; take fewer folds (cv), or a scorer that fits the labels"
        )
    return score


def hold_out(y: Codes, fraction: float, rng: np.random.Generator) -> Places:
    """Ascending positions of rows to stop by: a fraction of each class, of which one row is left.

    None, if the classes have too few rows to spare any.
    """
    counts = np.bincount(y)
    spare, ideal = np.maximum(counts - 1, 0), fraction * counts
    # Rounded down, then the rest by the largest remainders.
    wanted = np.minimum(ideal.astype(np.intp), spare)
    rest = round(fraction * int(counts.sum())) - int(wanted.sum())
    candidates = np.argsort(wanted - ideal, kind="stable")
    eligible = candidates[wanted[candidates] < spare[candidates]]
    wanted[eligible[: max(rest, 0)]] += 1
    order = rng.permutation(len(y))
    drawn = [order[y[order] == label][:number] for label, number in enumerate(wanted)]
    return np.sort(np.concatenate(drawn))
