"""One call for the best small tree on one's own rows: families of trees compete in folds."""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import get_scorer
from sklearn.utils import _safe_indexing, check_random_state

from gradtree.answers import Classification, Regression
from gradtree.cart import CartClassifier, CartRegressor
from gradtree.classifier import GradTreeClassifier
from gradtree.columns.coding import Column
from gradtree.columns.frames import as_table, is_frame, printed_names
from gradtree.competing import FoldResult, Rows, fitted, folds_of, standings, tree_of
from gradtree.estimator import TreeEstimator
from gradtree.inputs.folds import dealt_folds, score_of
from gradtree.regressor import GradTreeRegressor
from gradtree.settings.losses import NumberLoss
from gradtree.typing import Floats

# The losses that scores of numbers ask for.
LOSS_OF_SCORE = {
    "neg_mean_absolute_error": "absolute_error",
    "neg_median_absolute_error": "absolute_error",
    "neg_mean_poisson_deviance": "poisson",
}
MOST_REFITS = 4
"""Fits of the winner to all rows, at most."""


@dataclass(eq=False, repr=False)
class SmallTree(TreeEstimator):
    """The best of several families of small trees; subclasses say what they predict."""

    _families: ClassVar[dict[str, BaseEstimator]]

    max_leaf_nodes: int | None = 16
    families: Mapping[str, BaseEstimator] | Sequence[str] | None = None
    scoring: Any = None
    cv: Any = 5
    time_limit: float | None = None
    categorical_features: Any = "from_dtype"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Let the families compete and fit the winner to all rows.

        Parameters are as in ``fit`` of :class:`GradTreeClassifier` or :class:`GradTreeRegressor`;
        weights of rows count in scores, too.
        """
        return self._fitted(X, y, sample_weight)

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        limit = self.time_limit
        if limit is not None and not limit > 0:
            raise ValueError(f"time_limit={limit!r} is not possible; give seconds above 0, or None")
        if self.max_leaf_nodes is not None and self.max_leaf_nodes < 2:
            raise ValueError(f"max_leaf_nodes={self.max_leaf_nodes!r} is not possible; 2 or more")
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        contenders = self._contenders(seed)
        data = self._read(X, y, sample_weight, None, None)
        used = np.arange(len(data.y))
        if sample_weight is not None:
            used = np.flatnonzero(np.asarray(sample_weight))
        given: Any = data.rows
        if not isinstance(given, np.ndarray):
            given = _safe_indexing(as_table(X) if is_frame(X) else np.asarray(X), used)
        rows = Rows(given, data.truth, data.sample_weight, data.classes)
        folds = dealt_folds(data.folds(self.cv), data.y, used, seed)
        self.leaderboard_ = standings(*self._compete(contenders, rows, folds))
        self.best_family_ = next(s.family for s in self.leaderboard_ if s.chosen)
        winner = self.best_estimator_ = self._refitted(contenders[self.best_family_], rows, seed)
        self._note(data)
        tree = tree_of(winner)
        names = printed_names(getattr(self, "feature_names_in_", range(tree.n_features)))
        self.columns_ = tree.columns or tuple(Column(name) for name in names)
        if isinstance(winner, TreeEstimator):
            self._finish, self._grown = winner._finish, winner._grown
            self._keep(winner._kept)
        else:
            self._finish = self._finish_config()
            self._take(tree)

    def _compete(
        self, contenders: Mapping[str, BaseEstimator], rows: Rows, folds: Any
    ) -> tuple[dict[str, list[FoldResult]], dict[str, str]]:
        """Results of families fold by fold, and why others have none."""
        start = time.monotonic()
        results: dict[str, list[FoldResult]] = {}
        given_up: dict[str, str] = {}
        for name, estimator in contenders.items():
            left = None
            if self.time_limit is not None and (results or given_up):
                left = self.time_limit - (time.monotonic() - start)
            scorer = get_scorer(self._score_name())
            done = folds_of(estimator, rows, folds, scorer, self.n_jobs, left)
            if done is None:
                given_up[name], told = "given up: time limit", "given up, the time is over"
            elif self.max_leaf_nodes and max(one.leaves for one in done) > self.max_leaf_nodes:
                given_up[name] = told = f"given up: more than {self.max_leaf_nodes} leaves"
            else:
                results[name] = done
                told = f"{np.mean([one.score for one in done]):.4f} in {len(done)} folds"
            if self.verbose:
                seconds = time.monotonic() - start
                print(f"[{seconds:6.1f} s] {name}: {told}", file=sys.stderr, flush=True)
        if not results:
            raise ValueError(
                f"no family has a tree to choose: {given_up}; raise max_leaf_nodes, or name others"
            )
        return results, given_up

    def _refitted(self, estimator: Any, rows: Rows, seed: int) -> Any:
        """The winner, fitted to all rows.

        A tree that does worse on its own rows than its family did on unseen ones is that of an
        unlucky run: others follow, and the best on all rows is taken.
        """
        expected = next(one.score for one in self.leaderboard_ if one.chosen)
        scorer, seeded = get_scorer(self._score_name()), "random_state" in estimator.get_params()
        best, reached = None, -np.inf
        for again in range(MOST_REFITS if seeded else 1):
            if again:
                estimator = clone(estimator).set_params(random_state=seed + again)
            model = fitted(estimator, rows)
            score = score_of(scorer, model, rows.X, rows.y, rows.weight)
            if best is None or score > reached:
                best, reached = model, score
            if reached >= expected:
                break
        return best

    def _contenders(self, seed: int) -> dict[str, Any]:
        wanted = self._families if self.families is None else self.families
        if not isinstance(wanted, Mapping):
            names = [wanted] if isinstance(wanted, str) else list(wanted)
            unknown = [name for name in names if name not in self._families]
            if unknown:
                raise ValueError(
                    f"unknown family {unknown[0]!r}; known are {', '.join(self._families)}, and a "
                    "mapping from names to estimators adds others"
                )
            wanted = {name: self._families[name] for name in names}
        if not wanted:
            raise ValueError("families is empty; name at least one")
        score = self._score_name()
        ours: dict[str, Any] = {"scoring": score, "random_state": seed}
        ours |= {name: getattr(self, name) for name in ("max_leaf_nodes", "categorical_features")}
        if isinstance(score, str) and score != self._scoring:
            # The learner knows another score as "f1".
            ours["choose_by"] = get_scorer("f1") if score == "f1" else score
        if isinstance(score, str) and score in LOSS_OF_SCORE:
            ours |= {"loss": LOSS_OF_SCORE[score], "choose_by": "auto"}
        return {name: _with_defaults(estimator, ours) for name, estimator in wanted.items()}

    def _score_name(self) -> Any:
        return self._scoring if self.scoring is None else self.scoring


class SmallTreeClassifier(Classification, SmallTree):
    """The best of several families of small trees, chosen on the rows it is fitted to.

    Pruned CART, CART with balanced classes and GradTree are fitted to the same folds; the winner
    is fitted once more, to all rows, and its tree is the model. The family with the best mean score
    leads; of those behind it by no more than one standard error of the difference, taken fold by
    fold, the one named first is chosen: pruned CART, the quickest, where folds cannot tell. A last
    fit that does worse on its own rows than the folds did on unseen ones is repeated with other
    seeds, three times at most.

    Parameters
    ----------
    max_leaf_nodes : int or None, default=16
        Most leaves of the tree; ``None`` leaves the size to each family.
    families : mapping or sequence, optional
        Names among "cart", "cart-balanced" and "gradtree", or a mapping from names to estimators:
        those with a :class:`Tree` as ``tree_``, or scikit-learn's ``DecisionTreeClassifier``.
        Where they have parameters ``max_leaf_nodes``, ``scoring``, ``choose_by``,
        ``categorical_features`` and ``random_state`` at their defaults, these are set.
    scoring : str or callable, optional
        A scorer of scikit-learn; "f1_macro" without it.
    cv : int, splitter or iterable, default=5
        A number of stratified folds, or what scikit-learn takes for it. Repeated folds
        (``RepeatedStratifiedKFold``) tell more.
    time_limit : float, optional
        Seconds for the comparison. Families that have not finished their folds by then are
        stopped and given up, except the first one. The winner's fit to all rows comes on top.
    categorical_features, random_state
        As in :class:`GradTreeClassifier`.
    n_jobs : int, optional
        Folds that are fitted at the same time. The choice is the same with any number, unless
        there is a ``time_limit``.
    verbose : int, default=0
        1 prints a line per family, to standard error.

    Attributes
    ----------
    best_family_, best_estimator_ : str and estimator
        The winner, fitted to all rows.
    leaderboard_ : tuple of Standing
        Best first.
    tree_, classes_, class_weight_, n_features_in_, feature_names_in_
        As in :class:`GradTreeClassifier`.
    """

    _families: ClassVar[dict[str, BaseEstimator]] = {
        "cart": CartClassifier(),
        "cart-balanced": CartClassifier(class_weight="balanced"),
        "gradtree": GradTreeClassifier(),
    }

    def _note(self, data: Any) -> None:
        super()._note(data)
        self.class_weight_ = getattr(self.best_estimator_, "class_weight_", None)


class SmallTreeRegressor(Regression, SmallTree):
    """The best of several families of small trees of numbers, chosen on the rows it is fitted to.

    Pruned CART ("cart") and GradTree ("gradtree") compete by the rule of
    :class:`SmallTreeClassifier`. Where the score is a mean or median absolute error, or the Poisson
    deviance, GradTree is trained by that loss.

    Parameters
    ----------
    max_leaf_nodes, families, scoring, cv, time_limit, categorical_features, n_jobs, \
random_state, verbose
        As in :class:`SmallTreeClassifier`. Families have a :class:`RegressionTree` as ``tree_``, or
        are scikit-learn's ``DecisionTreeRegressor``; the score is "r2" if none is named.

    Attributes
    ----------
    best_family_, best_estimator_, leaderboard_, n_features_in_, feature_names_in_
        As in :class:`SmallTreeClassifier`.
    tree_ : RegressionTree
    """

    _families: ClassVar[dict[str, BaseEstimator]] = {
        "cart": CartRegressor(),
        "gradtree": GradTreeRegressor(),
    }

    def _loss_of(self, y: Floats, weight: Floats) -> NumberLoss:
        winner = getattr(self, "best_estimator_", None)
        plain = super()._loss_of(y, weight)
        return getattr(winner, "_loss", plain)


def _with_defaults(estimator: Any, ours: Mapping[str, Any]) -> Any:
    """A copy that is given ours for parameters that were left at their defaults."""
    usual = {name: one.default for name, one in signature(type(estimator)).parameters.items()}
    own = estimator.get_params(deep=False)
    left = [
        name
        for name in ours.keys() & own.keys() & usual.keys()
        if own[name] is usual[name] or (isinstance(own[name], str) and own[name] == usual[name])
    ]
    return clone(estimator).set_params(**{name: ours[name] for name in left})
