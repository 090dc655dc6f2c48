"""The settings of a training."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gradtree.training.losses import AnyLoss, Loss
from gradtree.training.selectors import Selector


@dataclass(frozen=True)
class TrainConfig:
    """Everything that decides a training, apart from the data.

    Attributes
    ----------
    depth : levels of splits; the tree has ``2**depth`` leaves.
    lr_index, lr_values, lr_leaf : Adam's learning rates of feature logits, thresholds and leaves.
    loss : a built-in ``Loss`` or the user's ``CustomLoss``.
    selector : how a node chooses its feature, by name or as a ``Selector``.
    batch_size : rows per batch, but at most half of the training rows.
    epochs, patience : a run ends after ``epochs`` epochs, or when ``patience`` epochs have passed
        without a lower validation loss. Only in the second case, as in the authors' code, are the
        parameters of the best epoch restored.
    restarts : further runs after the first; the one with the lowest validation loss wins.
    average_weights : evaluate, and in the end use, the mean of the parameters of the last five
        epochs. The paper describes this; the authors' code computes averages but never uses them.
    engine : ``"compiled"`` or ``"tensorflow"``.
    stream : where random draws come from; see ``gradtree.training.streams``.
    seed : of the first run. Those of the restarts follow from it.
    dtype : precision of the parameters.
    """

    depth: int = 10
    lr_index: float = 0.05
    lr_values: float = 0.01
    lr_leaf: float = 0.005
    loss: AnyLoss = field(default_factory=Loss)
    selector: str | Selector = "entmax"
    batch_size: int = 128
    epochs: int = 10_000
    patience: int = 200
    restarts: int = 3
    average_weights: bool = False
    engine: Literal["compiled", "tensorflow"] = "compiled"
    stream: Literal["numpy", "authors"] = "numpy"
    seed: int = 42
    dtype: Literal["float32", "float64"] = "float32"

    def batch_size_for(self, n_rows: int) -> int:
        """Batch size for so many training rows."""
        return min(self.batch_size, -(-n_rows // 2))

    def run_seeds(self) -> tuple[int, ...]:
        """Seed of every run. Restart ``r`` adds ``r``: 42, 43, 45, 48, ..."""
        return tuple(self.seed + r * (r + 1) // 2 for r in range(self.restarts + 1))
