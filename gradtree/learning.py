"""How the estimators learn: from rows as they come to the tree it predicts with."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from warnings import warn

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gradtree.estimator import TreeEstimator
from gradtree.inputs.arrays import as_training_type, coded_rows, read_validation
from gradtree.inputs.folds import hold_out
from gradtree.inputs.memory import check_fits, check_size
from gradtree.inputs.parameters import check_parameters, finish_config, train_config
from gradtree.settings.config import FinishConfig
from gradtree.training.finishing import Grown
from gradtree.training.train import ProgressBar, train

# All rows, with a method ``grow`` that makes the tree of trained parameters; and what ``train`` is
# given: class indices (or places among the targets), also of validation rows, and their weights.
Task = tuple[Any, dict[str, Any]]


@dataclass(eq=False, repr=False)
class TreeLearner(TreeEstimator):
    """Learns ``tree_`` by gradient descent; its subclasses explain the parameters and add some."""

    depth: int | str = "auto"
    max_depth: int | None = None
    lr_index: float = 0.25
    lr_values: float = 0.025
    lr_leaf: float | str = 0.2
    batch_size: int = 512
    epochs: int = 300
    patience: int = 50
    max_row_visits: int | None = 3_000_000
    restarts: int | str = 15
    choose_by: Any = "auto"
    tolerance: float = 1.0
    validation_fraction: float = 0.2
    scale: str | None = "quantile"
    categorical_features: Any = "from_dtype"
    leaf_smoothing: float = 1.0
    min_samples_leaf: float = 1
    polish: bool = True
    ccp_alpha: float | str = "auto"
    max_leaf_nodes: int | None = None
    engine: str = "compiled"
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    dtype: str = "float32"

    # What a split parts, in words.
    _parted: ClassVar[str]
    # All parameters, with "auto" made plain; what is to be learned from rows and validation rows.
    _settled: ClassVar[Callable[..., dict[str, Any]]]
    _task: ClassVar[Callable[..., Task]]
    _untrained: ClassVar[dict[str, Any]] = {
        **dict.fromkeys(("n_epochs_", "n_iter_", "best_run_"), 0),
        "history_": (),
    }

    def _learn(
        self, X: Any, y: Any, sample_weight: Any, X_valid: Any, y_valid: Any, classes: Any = None
    ) -> None:
        params = self._settled()
        check_parameters(params, type(self).__name__)
        check_size(params["depth"], (*np.shape(X), 0, 0)[1] if hasattr(X, "shape") else 0)
        data = self._read(X, y, sample_weight, classes, params["class_weight"])
        params = self._settled(data.n_classes)
        config = train_config(params, data.n_classes, self._seed())
        held_out = np.empty(0, dtype=np.intp)
        given = X_valid is not None or y_valid is not None
        if not given:
            rng = np.random.default_rng(config.seed)
            held_out = hold_out(data.y, self.validation_fraction, rng)
        trained = np.delete(np.arange(len(data.y)), held_out)
        self._learn_columns(data, trained)
        coded = coded_rows(data.rows, self.columns_)
        matrix = self._matrix(coded)
        check_fits(config.depth, matrix.shape[1], data.n_classes, config.dtype)
        beside, seen = None, coded
        if given:
            raw, labels = read_validation(self, X_valid, y_valid, data)
            coded_valid = coded_rows(raw, self.columns_)
            beside = self._matrix(coded_valid), labels
            if params["refit_leaves"]:
                seen = np.concatenate([coded, coded_valid])
        rows, task = self._task(data, config, matrix, beside, trained)
        finish = self._finish_config()
        told: dict[str, Any] = {"config": config, "X_valid": None, "y_valid": None} | task
        if beside is not None:
            told["X_valid"] = as_training_type(beside[0], self.dtype)
        told |= {"n_classes": data.n_classes, "valid_rows": held_out}
        told |= {"sample_weight": data.weight, "class_weight": data.class_weight}
        result, trees = self._trained(rows, finish, X=as_training_type(matrix, self.dtype), **told)
        self.history_ = result.history
        self.n_epochs_ = self.n_iter_ = result.epochs_run
        smallest = _smallest(trees, finish)
        self.best_run_, self.dense_ = result.runs[smallest]
        grown = rows.improved(trees[smallest], self.dense_.depth, finish)
        # A tree over the training matrix becomes the one to predict with.
        grown = self._over_table(grown, seen, rows.y[: len(seen)])
        cut = grown.cut(finish) if finish.changes_structure else grown
        self._grown, self._finish = grown, finish
        self._keep(cut)
        self._tell_of_a_single_leaf(rows)

    def _trained(self, rows: Any, finish: FinishConfig, **told: Any) -> tuple[Any, list[Grown]]:
        """The outcome, and the trees of its runs before they are cut to a size."""
        bar = ProgressBar(told["config"].patience) if self.verbose else None
        result = train(**told, progress=bar)
        if bar is not None:
            bar.close()
        for _, dense in result.runs:
            if not all(np.isfinite(part).all() for part in (dense.thresholds, dense.leaves)):
                raise FloatingPointError(
                    "the training diverged to infinite weights; lower the learning rates "
                    "(lr_index, lr_values, lr_leaf) or scale the columns of X"
                )
        return result, [rows.grow(dense, finish) for _, dense in result.runs]

    def plot_history(self, **options: Any) -> Any:
        """Draw the losses of all runs; see :func:`gradtree.plot_history`."""
        from gradtree.views.plot import plot_history

        check_is_fitted(self)
        return plot_history(self.history_, **options)

    def _finish_config(self) -> FinishConfig:
        return finish_config(self._settled(len(getattr(self, "classes_", ()))))

    def _tell_of_a_single_leaf(self, rows: Any) -> None:
        """Warn of a tree without splits, though the training found some that mean something."""
        if self.tree_.node_count > 1 or not self._finish.changes_structure:
            return
        if rows.grow(self.dense_, replace(self._finish, polish=False)).has_real_split():
            warn(
                "the tree is a single leaf, though the training found a split that parts the "
                f"{self._parted} more than chance would; for a larger tree lower ccp_alpha or "
                "min_samples_leaf, raise max_leaf_nodes, or set merge_leaves='alike'",
                stacklevel=5,
            )


def _smallest(trees: list[Grown], finish: FinishConfig) -> int:
    """Of the runs that are nearly as good as the best, the one with the smallest tree.

    A single leaf is no choice where the best is more than that.
    """
    if len(trees) == 1:
        return 0
    sizes = [one.cut(finish).tree.node_count for one in trees]
    small = [size if size > 1 or sizes[0] == 1 else max(sizes) + 1 for size in sizes]
    return int(np.argmin(small))
