"""Training on rows as they come."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradtree.settings.config import TrainConfig
from gradtree.settings.losses import CustomLoss
from gradtree.training.beginning import begin, columns_of, first_tree, samples_of, seeds_of
from gradtree.training.train import refuse_nan
from gradtree.trees.dense import DenseTree

if TYPE_CHECKING:
    from gradtree.engines.contract import EngineRun

_RETUNABLE = ("lr_index", "lr_values", "lr_leaf", "batch_size")
_NOT_STREAMED = (
    "seed",
    "epochs",
    "patience",
    "max_row_visits",
    "restarts",
    "n_jobs",
    "choose_by",
    "smoothing",
    "first_thresholds",
    "round_to_validation",
)
"""Settings without effect on a stream once it has begun."""


class Trainer:
    """Learns from samples as they come, keeping parameters and Adam's moments between calls.

    Parameters
    ----------
    n_features, n_classes : int
    config : TrainConfig
        Its ``epochs``, ``patience`` and ``restarts`` are not used.
    start : DenseTree, optional
        Initial parameters instead of random ones.
    """

    def __init__(
        self, n_features: int, n_classes: int, config: TrainConfig, start: DenseTree | None = None
    ) -> None:
        self.config = config
        self._shape = (n_features, n_classes)
        self._initial = start
        self._run: EngineRun | None = None

    def retune(self, config: TrainConfig) -> None:
        """Go on with other settings, as far as they can change.

        Learning rates and the batch size take effect. What shapes the parameters, the loss or the
        draws must stay; ``ValueError`` names it.
        """
        changed = [
            field.name
            for field in fields(config)
            if getattr(config, field.name) != getattr(self.config, field.name)
        ]
        fixed = [name for name in changed if name not in _RETUNABLE + _NOT_STREAMED]
        if fixed:
            raise ValueError(
                f"{', '.join(fixed)} cannot change between calls of partial_fit; "
                "set it back, or start anew with fit or a clone"
            )
        if set(changed) & set(_RETUNABLE) and self._run is not None:
            self._run.retune(config)
        self.config = config

    def learn(
        self,
        X: NDArray[Any],
        y: NDArray[Any],
        sample_weight: NDArray[Any] | None = None,
        epochs: int = 1,
    ) -> None:
        """Train for so many epochs on these samples."""
        samples = samples_of(X, y, sample_weight, np.arange(len(X)), self.config.dtype)
        if self._run is None:
            columns = columns_of(samples, self.config)
            self._initial = self._initial or first_tree(
                self.config.seed, columns, *self._shape, self.config
            )
            nobody = samples_of(samples.X, samples.y, None, np.arange(0), self.config.dtype)
            seeds = seeds_of(self.config.seed, self.config)
            self._run = begin(self._initial, samples, nobody, seeds, self.config)
        self._run.continue_with(samples, epochs)
        while self._run.advance() == 0:
            pass
        if isinstance(self.config.loss, CustomLoss):
            refuse_nan(self._run, validated=False)

    @property
    def dense(self) -> DenseTree:
        """A copy of the current parameters, after the first call of ``learn``."""
        if self._run is None:
            raise ValueError("nothing has been learned yet; call learn first")
        return self._run.result()
