"""Worker process that times the authors' package ``GradTree``, under an interpreter that has it."""

from __future__ import annotations

from typing import Any, ClassVar

import tensorflow as tf
from GradTree import GradTree

from experiments.bench.cases import Case, Data, Stamp, Timing, now, serve, timing_of_epochs


def _parameters(case: Case) -> dict[str, Any]:
    return {
        "depth": case.depth,
        "learning_rate_index": 0.05,
        "learning_rate_values": 0.01,
        "learning_rate_leaf": 0.005,
        "optimizer": "SWA",
        "cosine_decay_steps": 0,
        "initializer": "RandomNormal",
        "loss": "crossentropy",
        "focal_loss": False,
        "temperature": 0.0,
    }


def _arguments(case: Case) -> dict[str, Any]:
    return {
        "epochs": case.epochs,
        "early_stopping_epochs": case.epochs + 1,
        "batch_size": case.batch_size,
        "cat_idx": [],
        "objective": "binary" if case.classes == 2 else "classification",
        "metrics": ["F1"],
        "random_seed": 42,
        "verbose": 0,
    }


class WatchedStopping(tf.keras.callbacks.EarlyStopping):
    """Early stopping that notes when epochs end.

    The package cannot be given callbacks (its ``fit`` fails on them), but it makes this one.
    """

    ends: ClassVar[list[Stamp]] = []

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        super().on_epoch_end(epoch, logs)
        self.ends.append(now())


def time_authors(case: Case, data: Data) -> Timing:
    """Time a fit as the package's README shows it."""
    WatchedStopping.ends.clear()
    began = now()
    model = GradTree(params=_parameters(case), args=_arguments(case))
    model.fit(
        X_train=data.X,
        y_train=data.y.astype(float),
        X_val=data.X_valid,
        y_val=data.y_valid.astype(float),
    )
    finished = now()
    tf.keras.backend.clear_session()
    return timing_of_epochs(began, WatchedStopping.ends, finished)


if __name__ == "__main__":
    tf.keras.callbacks.EarlyStopping = WatchedStopping
    serve(time_authors)
