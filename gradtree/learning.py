"""How the estimator learns: from rows as they come to the tree it predicts with."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from gradtree.encoding import ColumnLearner
from gradtree.inputs.arrays import (
    TrainingRows,
    as_training_type,
    coded_rows,
    read_training_rows,
    read_validation,
)
from gradtree.inputs.holdout import hold_out
from gradtree.inputs.memory import check_depth, check_fits, check_width
from gradtree.inputs.parameters import check_parameters, finish_config, settled, train_config
from gradtree.settings.config import FinishConfig, TrainConfig
from gradtree.training.finishing import FittedRows, Grown, all_rows, grow
from gradtree.training.progress import ProgressBar
from gradtree.training.train import RunHistory, TrainResult, train
from gradtree.trees.dense import DenseTree
from gradtree.trees.simplify import PruningPath


class TreeLearner(ColumnLearner):
    """Learns ``tree_`` by gradient descent; the parameters are those of its subclass."""

    validation_fraction: float
    refit_leaves: bool
    warm_start: bool
    verbose: int
    dtype: str
    dense_: DenseTree
    history_: tuple[RunHistory, ...]
    _untrained: ClassVar[dict[str, Any]] = {
        "history_": (),
        "n_epochs_": 0,
        "n_iter_": 0,
        "best_run_": 0,
    }

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        X_valid: Any = None,
        y_valid: ArrayLike | None = None,
        classes: ArrayLike | None = None,
    ) -> Self:
        """Grow a tree.

        Parameters
        ----------
        X : array-like or table of shape (n_rows, n_features)
            Numbers, or a table that may hold text, booleans, categories and dates too; gaps are
            welcome (``nan``, ``None``, ``NaT``, ``NA``).
        y : array-like of shape (n_rows,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of rows in the loss; rows of weight 0 are left out.
        X_valid, y_valid : array-likes, optional
            Rows to stop by, instead of a part of ``X``.
        classes : array-like, optional
            All class labels, where ``y`` may lack some.
        """
        # All is learned by a copy: a fit that fails or is interrupted leaves this model as it was.
        grown = copy(self)
        grown._learn(X, y, sample_weight, X_valid, y_valid, classes)
        self.__dict__ = grown.__dict__
        return self

    def _learn(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        X_valid: Any,
        y_valid: ArrayLike | None,
        classes: ArrayLike | None,
    ) -> None:
        params = settled(self.get_params(deep=False))
        check_parameters(params)
        check_depth(params["depth"])
        check_width(params["depth"], (*np.shape(X), 0, 0)[1] if hasattr(X, "shape") else 0)
        data = read_training_rows(self, X, y, sample_weight, classes, params["class_weight"])
        config = train_config(params, len(data.classes), self._seed())
        held_out = np.empty(0, dtype=np.intp)
        given = X_valid is not None or y_valid is not None
        if not given:
            rng = np.random.default_rng(config.seed)
            held_out = hold_out(data.y, self.validation_fraction, rng)
        trained = np.delete(np.arange(len(data.y)), held_out)
        start = self._previous(config, data.classes)
        if start is None:
            self._learn_columns(data, trained)
        else:
            # Other initial draws would throw away what the previous fit learned.
            config = replace(config, restarts=0)
        coded = coded_rows(data.rows, self.columns_)
        matrix = self._matrix(coded)
        check_fits(config.depth, matrix.shape[1], len(data.classes), config.dtype)
        valid = None
        seen, seen_y = coded, data.y
        if given:
            by_column = not isinstance(data.rows, np.ndarray)
            raw, y_codes = read_validation(self, X_valid, y_valid, data.classes, by_column)
            coded_valid = coded_rows(raw, self.columns_)
            valid = self._matrix(coded_valid), y_codes
            if self.refit_leaves:
                seen = np.concatenate([coded, coded_valid])
                seen_y = np.concatenate([data.y, y_codes])
        result = self._trained(data, matrix, valid, held_out, config, start)
        self.classes_ = data.classes
        self.class_weight_ = data.class_weight
        self.history_ = result.history
        self.n_epochs_ = self.n_iter_ = result.epochs_run
        weights = data.class_weight, data.sample_weight
        rows = all_rows(matrix, data.y, data.weight, held_out, valid, *weights)
        finish = finish_config(params)
        self.best_run_, self.dense_, grown = _smallest(result, rows, finish)
        self._grow(grown, seen, seen_y, finish)
        self._tell_of_a_single_leaf(rows)

    def cost_complexity_pruning_path(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> PruningPath:
        """Prices of leaves (``ccp_alpha``) at which the tree of ``fit(X, y)`` would shrink.

        As in scikit-learn, a tree is grown for it and this estimator is not changed. Use a fixed
        ``random_state`` to get the path of the tree that you will grow; ``path_`` of a fitted
        estimator is the same without another fit. With ``polish``, a tree that is fitted at
        another price is polished at that price too, and may differ from the one on the path.

        Returns
        -------
        PruningPath
            ``ccp_alphas`` and ``impurities``, both ascending.
        """
        return clone(self).fit(X, y, sample_weight).path_

    def plot_history(self, **options: Any) -> Any:
        """Draw the losses of all runs; see :func:`gradtree.plot_history`."""
        from gradtree.views.plot import plot_history

        check_is_fitted(self)
        return plot_history(self.history_, **options)

    def _trained(
        self,
        data: TrainingRows,
        matrix: NDArray[Any],
        valid: tuple[NDArray[Any], NDArray[np.int64]] | None,
        held_out: NDArray[np.intp],
        config: TrainConfig,
        start: DenseTree | None,
    ) -> TrainResult:
        X_valid, y_valid, valid_weight = None, None, None
        if valid is not None:
            X_valid, y_valid = as_training_type(valid[0], self.dtype), valid[1]
            valid_weight = None if data.class_weight is None else data.class_weight[y_valid]
        bar = ProgressBar(config.patience) if self.verbose else None
        result = train(
            as_training_type(matrix, self.dtype),
            data.y,
            X_valid,
            y_valid,
            len(data.classes),
            config,
            sample_weight=data.weight,
            valid_weight=valid_weight,
            class_weight=data.class_weight,
            valid_rows=held_out,
            start=start,
            progress=bar,
        )
        if bar is not None:
            bar.close()
        return result

    def _previous(self, config: TrainConfig, classes: NDArray[Any]) -> DenseTree | None:
        """The parameters that a warm start goes on from."""
        if not self.warm_start or not hasattr(self, "dense_"):
            return None
        before = (self.dense_.depth, len(self.columns_), self.classes_.tolist())
        if before != (config.depth, self.n_features_in_, classes.tolist()):
            raise ValueError(
                "warm_start=True would go on from a tree of another shape (depth, features or "
                "classes); set warm_start=False, or keep them as they were"
            )
        return self.dense_

    def _grow(
        self,
        grown: Grown,
        coded: NDArray[Any],
        y: NDArray[np.int64],
        finish: FinishConfig,
    ) -> None:
        """Turn a tree over the training matrix into the one to predict with."""
        grown = self._over_table(grown, coded, y)
        cut = grown.cut(finish) if finish.changes_structure else grown
        self._grown, self._finish = grown, finish
        self._keep(cut)

    def _tell_of_a_single_leaf(self, rows: FittedRows) -> None:
        """Warn of a tree without splits, though the training found some that mean something."""
        if self.tree_.node_count > 1 or not self._finish.changes_structure:
            return
        if grow(self.dense_, rows, replace(self._finish, polish=False)).has_real_split():
            warn(
                "the tree is a single leaf, though the training found a split that parts the "
                "classes more than chance would; for a larger tree lower ccp_alpha or "
                "min_samples_leaf, raise max_leaf_nodes, or set merge_leaves='alike'",
                stacklevel=4,
            )


def _smallest(
    result: TrainResult, rows: FittedRows, finish: FinishConfig
) -> tuple[int, DenseTree, Grown]:
    """Of the runs that are nearly as good as the best, the one with the smallest tree.

    A single leaf is no choice where the best is more than that.
    """
    runs = [(result.best_run, result.dense), *result.near]
    for _, dense in runs:
        if not all(np.isfinite(part).all() for part in (dense.thresholds, dense.leaves)):
            raise FloatingPointError(
                "the training diverged to infinite weights; lower the learning rates "
                "(lr_index, lr_values, lr_leaf) or scale the columns of X"
            )
    grown = [grow(dense, rows, finish) for _, dense in runs]
    if len(runs) == 1:
        return *runs[0], grown[0]
    sizes = [one.cut(finish).tree.node_count for one in grown]
    small = [size if size > 1 or sizes[0] == 1 else max(sizes) + 1 for size in sizes]
    best = int(np.argmin(small))
    return *runs[best], grown[best]
