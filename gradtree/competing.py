"""Families of trees in the same folds: their fits, their scores, and who is chosen."""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.externals.loky import ProcessPoolExecutor, wait
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from gradtree.inputs.folds import Folds, score_of
from gradtree.trees.tree import Tree
from gradtree.typing import Array, Floats, Places


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as given, what is to be predicted, weights, and the labels of all classes, if any."""

    X: Any
    y: Array
    weight: Floats | None
    classes: Array

    def some(self, places: Places) -> Self:
        weight = None if self.weight is None else self.weight[places]
        return replace(self, X=_safe_indexing(self.X, places), y=self.y[places], weight=weight)


class FoldResult(NamedTuple):
    """Score and leaves of the tree of one fold, and the seconds its fit took."""

    score: float
    leaves: int
    seconds: float


class Standing(NamedTuple):
    """How one family did in the folds.

    Its mean score, and how far that is ``behind`` the leader's, with the standard errors of both
    (``noise`` is that of the difference); mean leaves, the seconds of all its fits, and whether it
    is the winner, with a ``remark`` that says why, or why it was given up.
    """

    family: str
    score: float
    standard_error: float
    behind: float
    noise: float
    leaves: float
    seconds: float
    chosen: bool
    remark: str


def tree_of(model: Any) -> Tree:
    """The tree of a fitted model."""
    tree = getattr(model, "tree_", None)
    if isinstance(tree, Tree):
        return tree
    if isinstance(model, DecisionTreeClassifier | DecisionTreeRegressor):
        return Tree.from_sklearn(model)
    raise TypeError(
        f"{type(model).__name__} has no tree_ of type gradtree.Tree, so it is no family of trees"
    )


def fitted(estimator: Any, rows: Rows) -> Any:
    """A copy of an estimator, fitted; it is told of classes and weights if it can be."""
    known: dict[str, Any] = {}
    if len(rows.classes) and has_fit_parameter(estimator, "classes"):
        known["classes"] = rows.classes
    if rows.weight is not None:
        known["sample_weight"] = rows.weight
    return clone(estimator).fit(rows.X, rows.y, **known)


def folds_of(
    estimator: Any, rows: Rows, folds: Folds, scorer: Any, n_jobs: int | None, seconds: float | None
) -> list[FoldResult] | None:
    """Results of one family, or ``None`` if they would take longer than ``seconds``."""
    tasks = [(estimator, rows, train, test, scorer) for train, test in folds]
    if seconds is None:
        return list(Parallel(n_jobs)(delayed(_one_fold)(*task) for task in tasks))
    if seconds <= 0:
        return None
    # Processes of their own can be stopped in the middle of a fit.
    n_processes = min(effective_n_jobs(n_jobs), len(tasks))
    pool = ProcessPoolExecutor(n_processes)
    try:
        # One piece of work for each: none is waiting when they are stopped.
        shares = [pool.submit(_some_folds, tasks[i::n_processes]) for i in range(n_processes)]
        if wait(shares, timeout=seconds).not_done:
            return None
        done = [share.result() for share in shares]
        return [done[i % n_processes][i // n_processes] for i in range(len(tasks))]
    finally:
        pool.shutdown(kill_workers=True)


def _some_folds(tasks: Sequence[tuple[Any, ...]]) -> list[FoldResult]:
    return [_one_fold(*task) for task in tasks]


def _one_fold(estimator: Any, rows: Rows, train: Places, test: Places, scorer: Any) -> FoldResult:
    with warnings.catch_warnings():
        # The fit to all rows says it once more, and once only.
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model = fitted(estimator, rows.some(train))
        seconds = time.perf_counter() - start
        leaves = tree_of(model).n_leaves
        unseen = rows.some(test)
        score = score_of(scorer, model, unseen.X, unseen.y, unseen.weight)
    return FoldResult(score, leaves, seconds)


def standings(
    results: Mapping[str, Sequence[FoldResult]], given_up: Mapping[str, str]
) -> tuple[Standing, ...]:
    """The leaderboard, best first; of families within noise of the best the first is chosen."""
    scores = {name: np.array([one.score for one in fits]) for name, fits in results.items()}
    leader = max(scores, key=lambda name: scores[name].mean())
    lost = {name: scores[leader] - own for name, own in scores.items()}
    close = [name for name, gap in lost.items() if gap.mean() <= _standard_error(gap)]
    found = []
    for name in sorted(scores, key=lambda name: -scores[name].mean()):
        own, gap, chosen = scores[name], lost[name], name == close[0]
        remark = "within noise of the leader" if name in close else "behind"
        remark = "leads" if name == leader else remark
        means = float(own.mean()), _standard_error(own), float(gap.mean()), _standard_error(gap)
        leaves = float(np.mean([one.leaves for one in results[name]]))
        seconds = float(sum(one.seconds for one in results[name]))
        remark = f"chosen: {remark}" if chosen else remark
        found.append(Standing(name, *means, leaves, seconds, chosen, remark))
    n = float("nan")
    left_out = [Standing(name, n, n, n, n, n, n, False, why) for name, why in given_up.items()]
    return (*found, *left_out)


def _standard_error(values: Floats) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
