"""The regressor: what it is called with. How it learns is in ``learning``."""

from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import StrOptions, validate_parameter_constraints

from gradtree.answers import Regression
from gradtree.classifier import GradTreeClassifier
from gradtree.inputs.targets import TrainingNumbers
from gradtree.learning import Task, TreeLearner
from gradtree.settings.config import TrainConfig
from gradtree.settings.losses import NUMBER_LOSSES, CustomLoss, NumberLoss
from gradtree.training.numbers import NumberRows, number_loss
from gradtree.typing import Array, Floats

# Parameters of the classifier that a regressor does not offer.
FIXED: dict[str, Any] = {
    name: parameter.default for name, parameter in signature(GradTreeClassifier).parameters.items()
} | {"class_weight": None, "merge_leaves": False}


@dataclass(eq=False, repr=False)
class GradTreeRegressor(Regression, TreeLearner):
    """A hard, axis-aligned tree of numbers, all of whose splits are learned by gradient descent.

    As :class:`GradTreeClassifier`, for one target or several: the same training, tables, rules,
    drawings and exports. Targets are scaled inside; leaves are fitted to all rows by the loss and
    predict in the units of ``y``.

    Parameters
    ----------
    depth : int, default=7
        Levels of splits before pruning, at most 16.
    loss : str, CustomLoss or callable, default="squared_error"
        What is minimised by splits, leaves, the choice of run and epoch, and pruning:
        "squared_error" (leaves are means), "absolute_error" (medians), "huber", "quantile" or
        "poisson" (for counts: rates, trained as logarithms; leaves are means). Or a function
        ``loss(prediction, target, gradient) -> float`` that Numba can compile: it gets arrays of
        shape (n_targets,) in the units of ``y``, writes the derivative by each prediction into
        ``gradient`` and returns the loss of a row.
    quantile, delta : float, default=0.5, 1.35
        Which quantile "quantile" predicts; distance from which "huber" is linear, in robust
        standard deviations of the target (1.48 times the median distance from the median).
    lr_index, lr_values, lr_leaf : float, default=0.25, 0.025, 0.05
        Learning rates of the feature choices, of the thresholds and of the leaves.
    choose_by : "auto", "loss", str or callable, default="auto"
        How to choose a run. "auto": by the sum of the loss of the validation rows, with leaves of
        the training rows, and of the loss of all rows, with leaves of the rows of other folds;
        with a loss of your own, as "loss": the lowest validation loss. A scorer of scikit-learn's,
        by name or itself, is judged as by "auto"; it is called with ``X=None``.
    tolerance : float, default=0.0
        With "auto", of the runs whose loss is higher than the best by no more than so many
        standard errors, the one with the smallest finished tree is kept.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns that hold categories; see :class:`GradTreeClassifier`. They are ordered inside by
        the mean of the target.
    leaf_smoothing : float, default=1.0
        So many rows with the prediction of its parent join every node.
    ccp_alpha : float or "auto", default="auto"
        Price of a leaf in minimal cost-complexity pruning after training: a split must save this
        part of the loss of a tree without splits. "auto" is log(n) / 2n for n rows, as the
        Bayesian information criterion asks where half of that loss stays. See ``path_`` and
        :meth:`prune`.
    polish : bool, default=True
        Whether thresholds are re-fitted after training, in the middle between two values, and
        splits removed that do not save the price of their leaves.
    max_depth, batch_size, epochs, patience, max_row_visits, restarts, validation_fraction, scale, \
min_samples_leaf, max_leaf_nodes, engine, random_state, n_jobs, verbose, dtype
        As in :class:`GradTreeClassifier`, with the loss in place of log loss and F1.

    Attributes
    ----------
    tree_ : RegressionTree
        The learned tree over the columns of ``X``, with predictions in the units of ``y``.
    columns_, feature_importances_, path_, n_features_in_, feature_names_in_, dense_, history_, \
n_epochs_, n_iter_, best_run_
        As in :class:`GradTreeClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from gradtree import GradTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = GradTreeRegressor(depth=3, random_state=0).fit(X, y)
    >>> print(model.export_text())  # doctest: +SKIP
    """

    _parted: ClassVar[str] = "targets"
    # What "auto" asks for a leaf: nothing of a tree that no rows were seen for.
    _auto_price = 0.0

    depth: int | str = 7
    lr_leaf: float | str = 0.05
    tolerance: float = 0.0
    loss: Any = "squared_error"
    quantile: float = 0.5
    delta: float = 1.35

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        X_valid: Any = None,
        y_valid: ArrayLike | None = None,
    ) -> Self:
        """Grow a tree.

        Parameters are as in :meth:`GradTreeClassifier.fit`, but ``y`` are numbers, of shape
        (n_rows,) or (n_rows, n_targets); for "poisson", none below 0.
        """
        return self._fitted(X, y, sample_weight, X_valid, y_valid)

    def _settled(self, n_classes: int = 2) -> dict[str, Any]:
        params = self.get_params(deep=False)
        loss, choose_by = params.pop("loss"), params["choose_by"]
        own = callable(loss) or isinstance(loss, CustomLoss)
        allowed = {"loss": (StrOptions({*NUMBER_LOSSES}), CustomLoss, callable)}
        validate_parameter_constraints(allowed, {"loss": loss}, type(self).__name__)
        if isinstance(choose_by, str) and choose_by == "f1":
            raise ValueError("choose_by='f1' is not possible; numbers have no classes")
        if isinstance(self.ccp_alpha, str) and self.ccp_alpha == "auto":
            params["ccp_alpha"] = self._auto_price
        if params["max_depth"] is not None:
            params["depth"] = params["max_depth"]
        if own and isinstance(choose_by, str) and choose_by == "auto":
            params["choose_by"] = "loss"
        return FIXED | params

    def _loss_of(self, y: Floats, weight: Floats) -> NumberLoss:
        if isinstance(self.loss, str):
            setting = self.quantile if self.loss == "quantile" else self.delta
            return number_loss(self.loss, float(setting), y, weight, None)
        own = self.loss if isinstance(self.loss, CustomLoss) else CustomLoss(self.loss)
        return number_loss("squared_error", 1.0, y, weight, own)

    def _task(
        self, data: TrainingNumbers, config: TrainConfig, matrix: Array, beside: Any, trained: Any
    ) -> Task:
        counts = isinstance(self.loss, str) and self.loss == "poisson"
        given = {"y": data.targets} if beside is None else {"y": data.targets, "y_valid": beside[1]}
        for name, numbers in given.items():
            if counts and (numbers.min() < 0 or not numbers.any(axis=0).all()):
                raise ValueError(
                    f"loss='poisson' is for counts, but {name} has numbers below 0, or only zeros"
                )
        self._note(data)
        n_rows = len(data.y)
        self._auto_price = float(np.log(n_rows) / (2 * n_rows))
        X, targets, places = matrix, data.targets, None
        if beside is not None:
            valid, told = beside
            X, targets = np.concatenate([matrix, valid]), np.concatenate([targets, told])
            places = np.arange(n_rows, len(targets))
        weight = np.ones(len(X))
        if data.weight is not None:
            # As in training, weights count by their ratios: a row is a row.
            weight[:n_rows] = data.weight / data.weight.mean()
        loss = replace(self._loss, targets=targets)
        rows = NumberRows(X, targets, weight, loss)
        known = {"config": replace(config, loss=loss), "y": np.arange(n_rows), "y_valid": places}
        return rows, known
