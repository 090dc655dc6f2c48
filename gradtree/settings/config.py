"""The settings of a training, and of what is made of its outcome."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from gradtree.settings.losses import AnyLoss, CustomLoss, Loss
from gradtree.settings.selectors import Selector

ENGINES = ("compiled", "tensorflow")
CHOICES = ("loss", "f1")
FIRST_THRESHOLDS = ("glorot", "quantiles")
PROBABILITIES = ("shares", "weighted")


@dataclass(frozen=True)
class TrainConfig:
    """Everything that decides a training, apart from the data.

    Attributes
    ----------
    depth : levels of splits; the tree has ``2**depth`` leaves.
    lr_index, lr_values, lr_leaf : Adam's learning rates of feature logits, thresholds and leaves.
    loss : a built-in ``Loss`` or the user's ``CustomLoss``.
    selector : how a node chooses its feature, by name or as a ``Selector``.
    split, steepness : the split function, a name of ``SPLITS``, and how steep it is.
    first_thresholds : ``"glorot"`` draws thresholds around zero, as the paper does; ``"quantiles"``
        draws values of the features.
    round_to_validation : train on values that validation rows have; see
        ``gradtree.training.rounding``.
    batch_size : rows per batch, but at most half of the training rows.
    epochs, patience : a run ends after ``epochs`` epochs, or when ``patience`` epochs have passed
        without improvement.
    max_row_visits : a run ends after about so many rows, each epoch counting all of them.
    choose_by : ``"loss"`` as in the paper: the run with the lowest validation loss wins. Only if
        patience ends it are, as in the authors' code, the parameters of its best epoch restored.
        ``"f1"``, the name of a scorer of scikit-learn's or a scorer: the epochs of lowest loss and
        of best macro F1 of every run are compared; see ``gradtree.training.choosing``.
    smoothing : for all but ``"loss"``; see ``FinishConfig``.
    tolerance : runs whose score is lower by no more than so many of its standard errors are nearly
        as good as the best; not for ``"loss"`` and ``"f1"``.
    restarts : further runs after the first.
    average_weights : evaluate, and in the end use, the mean of the parameters of the last five
        epochs. The paper describes this; the authors' code computes averages but never uses them.
    engine : a name of ``ENGINES``.
    stream : where random draws come from; a name of ``gradtree.engines.streams.STREAMS``.
    seed : of the first run. Those of the restarts follow from it.
    dtype : precision of the parameters.
    n_jobs : runs that train at the same time, in threads; changes nothing else.
    """

    depth: int = 10
    lr_index: float = 0.05
    lr_values: float = 0.01
    lr_leaf: float = 0.005
    loss: AnyLoss = field(default_factory=Loss)
    selector: str | Selector = "entmax"
    split: str = "sigmoid"
    steepness: float = 1.0
    first_thresholds: str = "glorot"
    round_to_validation: bool = False
    batch_size: int = 128
    epochs: int = 10_000
    patience: int = 200
    max_row_visits: int | None = None
    choose_by: Any = "loss"
    smoothing: float = 1.0
    tolerance: float = 0.0
    restarts: int = 3
    average_weights: bool = False
    engine: Literal["compiled", "tensorflow"] = "compiled"
    stream: str = "numpy"
    seed: int = 42
    dtype: Literal["float32", "float64"] = "float32"
    n_jobs: int = 1

    def batch_size_for(self, n_rows: int) -> int:
        """Batch size for so many training rows."""
        return min(self.batch_size, -(-n_rows // 2))

    def epochs_for(self, n_rows: int) -> int:
        """Most epochs of a run on so many training rows."""
        if self.max_row_visits is None:
            return self.epochs
        return min(self.epochs, max(self.max_row_visits // max(n_rows, 1), 1))

    def run_seeds(self) -> tuple[int, ...]:
        """Seed of every run. Restart ``r`` adds ``r``: 42, 43, 45, 48, ..."""
        return tuple(self.seed + r * (r + 1) // 2 for r in range(self.restarts + 1))


@dataclass(frozen=True)
class FinishConfig:
    """What is made of a trained dense tree.

    Attributes
    ----------
    refit_leaves : set leaves to the class shares of all rows, validation rows included, instead of
        what the gradient made of them.
    smoothing : with ``refit_leaves``, so many rows of its parent's shares join every node.
    probabilities : with ``refit_leaves``, a name of ``PROBABILITIES``: of the data as they are, so
        that weights of classes decide predictions alone, or with those weights.
    loss : of the user's, which refitted leaves then minimise where they predict.
    min_samples_leaf : a leaf with fewer rows gives way to its sibling; below 1, a share of rows.
    polish : re-fit thresholds and raise splits away that do not pay; see
        ``gradtree.trees.polish``.
    merge_leaves : join sibling leaves that predict the same class; ``"alike"``: only where their
        shares of classes do not differ.
    criterion : what a leaf costs, a name of ``gradtree.trees.costs.CRITERIA``.
    ccp_alpha : price of a leaf in minimal cost-complexity pruning.
    max_leaf_nodes : join pairs of leaves until there are no more than this.
    """

    refit_leaves: bool = False
    smoothing: float = 1.0
    probabilities: str = "weighted"
    loss: CustomLoss | None = None
    min_samples_leaf: float = 1
    polish: bool = False
    merge_leaves: bool | str = False
    criterion: str = "gini"
    ccp_alpha: float = 0.0
    max_leaf_nodes: int | None = None

    @property
    def changes_structure(self) -> bool:
        """Whether anything but the cut of what no row reaches is asked for."""
        asked = self.refit_leaves or self.merge_leaves or self.ccp_alpha > 0
        return bool(asked or self.min_samples_leaf != 1 or self.max_leaf_nodes is not None)
