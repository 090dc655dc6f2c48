"""The settings of a training, and of what is made of its outcome."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from gradtree.settings.losses import AnyLoss, CustomLoss, Loss
from gradtree.settings.selectors import Selector

ENGINES = ("compiled", "tensorflow")
CHOICES = ("loss", "f1")
FIRST_THRESHOLDS = ("glorot", "quantiles")
PROBABILITIES = ("shares", "weighted")


@dataclass(frozen=True)
class TrainConfig:
    """Everything that decides a training, apart from the data.

    Names are those of ``GradTreeClassifier``'s parameters, which its docstring describes, except
    ``smoothing`` (its ``leaf_smoothing``) and ``seed``: of the first run; those of the restarts
    follow from it. ``choose_by`` is ``"loss"`` as in the paper, where the run with the lowest
    validation loss wins and only patience restores its best epoch, as in the authors' code; or
    ``"f1"``, or a scorer or its name: see ``gradtree.training.choosing``.
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
    batch_size: int = 128
    epochs: int = 10_000
    patience: int = 200
    max_row_visits: int | None = None
    choose_by: Any = "loss"
    smoothing: float = 1.0
    tolerance: float = 0.0
    restarts: int = 3
    engine: Literal["compiled", "tensorflow"] = "compiled"
    stream: str = "numpy"
    seed: int = 42
    dtype: Literal["float32", "float64"] = "float32"
    n_jobs: int = 1

    def batch_size_for(self, n_rows: int) -> int:
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
    """What is made of a trained dense tree; names as in ``GradTreeClassifier``.

    ``smoothing`` is its ``leaf_smoothing``, and ``loss`` one of the user's, which refitted leaves
    then minimise where they predict.
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

    def rows_per_leaf(self, n_rows: int) -> int:
        least = self.min_samples_leaf
        return int(np.ceil(least * n_rows)) if least < 1 else int(least)

    @property
    def polish_price(self) -> float:
        """Price of a leaf in polishing, which goes by log loss or a loss of the user's."""
        return 0.0 if self.criterion == "gini" and self.loss is None else self.ccp_alpha

    @property
    def changes_structure(self) -> bool:
        """Whether anything but the cut of what no row reaches is asked for."""
        asked = self.refit_leaves or self.merge_leaves or self.ccp_alpha > 0
        return bool(asked or self.min_samples_leaf != 1 or self.max_leaf_nodes is not None)
