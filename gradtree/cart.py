"""CART for any table: scikit-learn's greedy tree, pruned, as a tree over the columns as given."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree._tree import ccp_pruning_path
from sklearn.utils import Bunch

from gradtree.answers import Classification, Regression
from gradtree.engines.scores import macro_f1
from gradtree.estimator import TreeEstimator
from gradtree.inputs.arrays import TrainingRows, coded_rows
from gradtree.inputs.folds import Fold, dealt_folds, score_of
from gradtree.inputs.targets import TrainingNumbers
from gradtree.settings.config import FinishConfig
from gradtree.settings.losses import NumberLoss
from gradtree.training.finishing import Grown, with_values
from gradtree.training.numbers import NumberRows, number_loss
from gradtree.trees.simplify import class_sums
from gradtree.trees.tree import Tree
from gradtree.typing import Array, Floats, Places

MOST_PRICES = 20


@dataclass(eq=False, repr=False)
class Cart(TreeEstimator):
    """A greedy tree of scikit-learn's; its subclasses explain the parameters."""

    scale = None
    class_weight = None
    _grower: ClassVar[type]
    # A tree of scikit-learn's with its leaves fitted to some rows of the training matrix; a model
    # that predicts by it; and a price that no split can save.
    _grown_on: ClassVar[Callable[..., Grown]]
    _model_on: ClassVar[Callable[..., Any]]
    _highest_price: ClassVar[Callable[..., float]]

    max_leaf_nodes: int | None = None
    max_depth: int | None = None
    min_samples_leaf: int | float = 1
    min_weight_fraction_leaf: float = 0.0
    criterion: str = "squared_error"
    ccp_alpha: float | str = "cv"
    scoring: Any = None
    cv: Any = 5
    categorical_features: Any = "from_dtype"
    random_state: Any = None

    def _learn(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> None:
        data = self._read(X, y, sample_weight, classes, self.class_weight)
        rows = np.arange(len(data.y))
        used = rows if sample_weight is None else np.flatnonzero(np.asarray(sample_weight))
        self._learn_columns(data, rows)
        coded = coded_rows(data.rows, self.columns_)
        grower = self._grower(
            criterion=self.criterion,
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
            random_state=self._seed(),
        )
        self._note(data)
        price: Any = self.ccp_alpha
        by_folds, matrix = isinstance(price, str) and price == "cv", self._matrix(coded)
        grower.set_params(ccp_alpha=0.0 if by_folds else price)
        cut = _fitted_to(grower, data, matrix, rows)
        if by_folds:
            price = self._best_of_folds(cut, data, coded, used)
            cut = _cut(cut, price)
        grown = self._grown_on(cut, data, matrix, rows)
        self.ccp_alpha_ = float(price)
        self._finish = self._finish_config()
        self._edit(self._over_table(grown, coded, data.y))

    def _best_of_folds(self, whole: Any, data: TrainingRows, coded: Array, used: Places) -> float:
        """The price that folds prefer; of equal prices the largest."""
        path = Bunch(**ccp_pruning_path(whole.tree_))
        changes = np.unique(path.ccp_alphas.clip(min=0.0))
        prices = np.sqrt(changes[:-1] * changes[1:])[::-1]
        if len(prices) > MOST_PRICES:
            prices = self._some_prices(prices)
        # No split saves as much as the first of these, so that its tree is a single leaf.
        prices = np.array([self._highest_price(data, path), *prices])
        scorer = get_scorer(self._scoring if self.scoring is None else self.scoring)
        total = np.zeros(len(prices))
        for train, test in dealt_folds(data.folds(self.cv), data.y, used, whole.random_state):
            fold = copy(self)
            # The order of categories must not know the labels of rows that are scored.
            fold._learn_encoding(data, coded, train)
            matrix = fold._matrix(coded)
            grown = _fitted_to(whole, data, matrix, train)
            cuts = [_cut(grown, price) for price in prices]
            # They are nested: those of one size are the same.
            sizes = [cut.tree_.node_count for cut in cuts]
            _, first, place = np.unique(sizes, return_index=True, return_inverse=True)
            different = [cuts[number] for number in first]
            total += self._scores(different, scorer, data, matrix, (train, test))[place]
        return float(prices[np.argmax(total)])

    def _scores(
        self, cuts: list[Any], scorer: Any, data: TrainingRows, matrix: Array, fold: Fold
    ) -> Floats:
        """Scores of trees that were grown on some rows, on others."""
        train, test = fold
        models = [self._model_on(cut, data, matrix, train) for cut in cuts]
        weight = None if data.sample_weight is None else data.sample_weight[test]
        X, truth = matrix[test], data.truth[test]
        return np.array([score_of(scorer, model, X, truth, weight) for model in models])

    def _some_prices(self, prices: Floats) -> Floats:
        """At most 20 of more prices, the highest first."""
        return np.quantile(prices, np.linspace(1, 0, MOST_PRICES), method="nearest")

    def _finish_config(self) -> FinishConfig:
        return FinishConfig(
            refit_leaves=True,
            smoothing=0.0,
            probabilities="shares",
            criterion="gini" if self.criterion == "gini" else "log_loss",
            max_leaf_nodes=self.max_leaf_nodes,
        )


@dataclass(eq=False, repr=False)
class CartClassifier(Classification, Cart):
    """A greedy tree whose size is chosen by cross-validation, readable like any other here.

    Tables with text, categories, dates and gaps are read as by :class:`GradTreeClassifier`, and
    ``tree_`` is one over the columns as given. Categories are ordered by what they tell about the
    label. ``predict_proba`` gives the shares of the data; weights of classes decide ``predict``.

    Parameters
    ----------
    max_leaf_nodes : int, optional
        Most leaves; then the tree grows best split first.
    max_depth, min_samples_leaf, min_weight_fraction_leaf, criterion
        As in scikit-learn's ``DecisionTreeClassifier``.
    ccp_alpha : float or "cv", default="cv"
        Price of a leaf in minimal cost-complexity pruning. "cv" takes the one with the best mean
        score in folds, the highest of equals: of one that leaves a single leaf, and of at most 20
        between those at which the tree of all rows changes.
    scoring : str or callable, optional
        What "cv" chooses by: a scorer of scikit-learn, "f1_macro" without it. As ``X`` it is given
        the coded columns.
    cv : int, splitter or iterable, default=5
        Folds of "cv": a number of stratified ones, or what scikit-learn takes for it.
    class_weight : dict, "balanced", "sqrt-balanced", float or None, default=None
        As in :class:`GradTreeClassifier`.
    categorical_features, random_state
        As in :class:`GradTreeClassifier`.

    Attributes
    ----------
    ccp_alpha_ : float
        The price that was chosen.
    tree_, columns_, classes_, class_weight_, n_features_in_, feature_names_in_
        As in :class:`GradTreeClassifier`.
    """

    _grower = DecisionTreeClassifier

    criterion: str = "gini"
    class_weight: Any = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
    ) -> Self:
        """Grow a tree and prune it; parameters are as in :meth:`GradTreeClassifier.fit`."""
        return self._fitted(X, y, sample_weight, classes)

    def _scores(
        self, cuts: list[Any], scorer: Any, data: TrainingRows, matrix: Array, fold: Fold
    ) -> Floats:
        plain = self.scoring is None or isinstance(self.scoring, str)
        usual = plain and self.scoring in (None, "f1_macro")
        if not usual or (data.weight is not None and not data.weight.all()):
            return super()._scores(cuts, scorer, data, matrix, fold)
        # Labels are enough for the usual score, and much quicker to have than models.
        train, test = fold
        X, y, n_classes = matrix.astype(np.float32), data.y[train], len(data.classes)
        weight = None if data.weight is None else data.weight[train]
        worth = None if data.sample_weight is None else data.sample_weight[test]
        found = []
        for cut in cuts:
            leaf = cut.tree_.apply(X)
            cells = leaf[train] * n_classes + y
            sums = np.bincount(cells, weight, cut.tree_.node_count * n_classes)
            sums = sums.reshape(-1, n_classes)
            shares = sums / np.maximum(sums.sum(axis=1, keepdims=True), 1e-300)
            found.append(macro_f1(data.y[test], shares.argmax(axis=1)[leaf[test]], worth))
        return np.array(found)

    def _grown_on(self, cut: Any, data: TrainingRows, matrix: Array, rows: Places) -> Grown:
        X, y, n_classes = matrix[rows], data.y[rows], len(data.classes)
        weight = None if data.weight is None else data.weight[rows]
        plain = None if data.sample_weight is None else data.sample_weight[rows]
        grown = Tree.from_sklearn(cut)
        # Some classes may have no row here.
        tree = replace(grown, value=np.full((grown.node_count, n_classes), 1 / n_classes))
        leaf = tree.apply(X)
        sums = [class_sums(tree, leaf, y, given) for given in (weight, plain)]
        return with_values(tree, sums[0], sums[1], self._finish_config())

    def _model_on(self, cut: Any, data: TrainingRows, matrix: Array, rows: Places) -> Self:
        return type(self).from_tree(self._grown_on(cut, data, matrix, rows).tree, self.classes_)

    def _highest_price(self, data: TrainingRows, path: Any) -> float:
        return float(1 + np.log2(len(data.classes)))


class CartRegressor(Regression, Cart):
    """A greedy tree of numbers whose size is chosen by cross-validation.

    Tables are read as by :class:`GradTreeRegressor`; categories are ordered by the mean target.

    Parameters
    ----------
    criterion : "squared_error", "absolute_error", "friedman_mse" or "poisson"
        As in scikit-learn; leaves are medians with "absolute_error", else means.
    scoring : str or callable, optional
        What "cv" chooses by: a scorer of scikit-learn, "r2" without it.
    max_leaf_nodes, max_depth, min_samples_leaf, min_weight_fraction_leaf, ccp_alpha, cv, \
categorical_features, random_state
        As in :class:`CartClassifier`.

    Attributes
    ----------
    tree_ : RegressionTree
    columns_, ccp_alpha_, n_features_in_, feature_names_in_
        As in :class:`CartClassifier`.
    """

    _grower = DecisionTreeRegressor

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow a tree and prune it; parameters are as in :meth:`GradTreeRegressor.fit`."""
        return self._fitted(X, y, sample_weight)

    def _loss_of(self, y: Floats, weight: Floats) -> NumberLoss:
        kind = self.criterion if self.criterion == "absolute_error" else "squared_error"
        return number_loss(kind, 1.0, y, weight, None)

    def _grown_on(self, cut: Any, data: TrainingNumbers, matrix: Array, rows: Places) -> Grown:
        tree, X = Tree.from_sklearn(cut), matrix[rows]
        weight = np.ones(len(rows)) if data.weight is None else data.weight[rows]
        known = NumberRows(X, data.targets[rows], weight, self._loss)
        return known.with_values(tree, tree.apply(X), 0.0)

    def _model_on(self, cut: Any, data: TrainingNumbers, matrix: Array, rows: Places) -> Self:
        return type(self).from_tree(Tree.from_sklearn(cut))

    def _some_prices(self, prices: Floats) -> Floats:
        # A tree of numbers may have a leaf per row: each step makes it larger by the same factor.
        places = np.geomspace(1, len(prices), MOST_PRICES).round().astype(np.intp) - 1
        return np.asarray(prices[np.unique(places)])

    def _highest_price(self, data: TrainingNumbers, path: Any) -> float:
        return float(1 + 2 * path.impurities[-1])


def _fitted_to(grower: Any, data: TrainingRows, matrix: Array, rows: Places) -> Any:
    """A copy that is grown on some rows, and not pruned."""
    weight = None if data.weight is None else data.weight[rows]
    return clone(grower).fit(matrix[rows], data.codes[rows], weight)


def _cut(whole: Any, price: float) -> Any:
    """What fitting at a price of leaves gives: pruning follows growth and changes nothing in it."""
    cut = copy(whole).set_params(ccp_alpha=price)
    cut._prune_tree()
    return cut
