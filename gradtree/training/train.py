"""Training a tree: runs from several initial draws, of which the best is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradtree.training.config import TrainConfig
from gradtree.trees.dense import DenseTree

if TYPE_CHECKING:
    from gradtree.engines.contract import EngineRun, Samples, Seeds

__all__ = ["Progress", "RunHistory", "TrainConfig", "TrainResult", "Trainer", "train"]


@dataclass(frozen=True, eq=False)
class RunHistory:
    """How one run went.

    Attributes
    ----------
    seed : seed of the run.
    train_loss, valid_loss : ndarray of shape (epochs,)
        Means over batches. Without validation rows ``valid_loss`` is ``nan`` and the training loss
        decides.
    best_epoch : index of the epoch with the lowest loss, -1 if none was a number.
    best_loss : that loss.
    stopped_early : whether patience ran out before the epochs did.
    """

    seed: int
    train_loss: NDArray[np.float64]
    valid_loss: NDArray[np.float64]
    best_epoch: int
    best_loss: float
    stopped_early: bool


@dataclass(frozen=True, eq=False)
class TrainResult:
    """The outcome of a training.

    Attributes
    ----------
    dense : the tree of the best run.
    history : one record per run.
    best_run, best_epoch : where the tree comes from.
    epochs_run : number of epochs, all runs together.
    seeds : seed of each run.
    """

    dense: DenseTree
    history: tuple[RunHistory, ...]
    best_run: int
    best_epoch: int
    epochs_run: int
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Progress:
    """Where a training is; passed to ``progress`` several times a second."""

    run: int
    runs: int
    epoch: int
    epochs: int
    best_epoch: int
    best_loss: float
    train_loss: float
    valid_loss: float


def _weights(weight: NDArray[Any] | None, rows: NDArray[np.int64], n: int) -> NDArray[Any]:
    """Weights scaled to a mean of one over ``rows``."""
    if weight is None:
        return np.ones(n, dtype=np.float32)
    weight = np.asarray(weight, dtype=np.float64)
    mean = weight[rows].mean() if len(rows) else 1.0
    if not mean > 0:
        raise ValueError("sample weights must be positive for at least one training row")
    return weight / mean


def _samples(
    X: NDArray[Any],
    y: NDArray[Any],
    weight: NDArray[Any] | None,
    rows: NDArray[Any],
    dtype: str,
) -> Samples:
    from gradtree.engines.contract import Samples

    rows = np.asarray(rows, dtype=np.int64)
    X = np.ascontiguousarray(X, dtype=dtype)
    return Samples(X, np.asarray(y, dtype=np.int64), _weights(weight, rows, len(X)), rows)


def _begin(
    initial: DenseTree, train: Samples, valid: Samples, seeds: Seeds, config: TrainConfig
) -> EngineRun:
    if config.engine == "compiled":
        from gradtree.engines.compiled import CompiledRun

        return CompiledRun(initial, train, valid, seeds, config)
    if config.engine == "tensorflow":
        from gradtree.engines.reference import ReferenceRun

        return ReferenceRun(initial, train, valid, seeds, config)
    raise ValueError(f"unknown engine {config.engine!r}; choose 'compiled' or 'tensorflow'")


def _seeds(seed: int, config: TrainConfig) -> Seeds:
    from gradtree.engines.contract import Seeds
    from gradtree.training.streams import noise_key, stream

    return Seeds(stream(config.stream).order(seed), noise_key(seed))


def _history(run: EngineRun, seed: int, stopped_early: bool) -> RunHistory:
    train_loss, valid_loss = run.losses
    return RunHistory(
        seed,
        train_loss.copy(),
        valid_loss.copy(),
        int(run.watch.best_epoch[0]),
        float(run.watch.best_loss[0]),
        stopped_early,
    )


def train(
    X: NDArray[Any],
    y: NDArray[Any],
    X_valid: NDArray[Any] | None,
    y_valid: NDArray[Any] | None,
    n_classes: int,
    config: TrainConfig,
    *,
    sample_weight: NDArray[Any] | None = None,
    valid_weight: NDArray[Any] | None = None,
    valid_rows: NDArray[Any] | None = None,
    start: DenseTree | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> TrainResult:
    """Train a tree.

    Parameters
    ----------
    X : ndarray of shape (rows, n_features)
        Used without a copy if it is C-contiguous and of type ``config.dtype``.
    y : ndarray of shape (rows,)
        Class indices below ``n_classes``.
    X_valid, y_valid : arrays like ``X`` and ``y``, optional
        Validation rows. Without any, the training loss decides when to stop.
    sample_weight, valid_weight : ndarray of shape (rows,), optional
        Only ratios matter.
    valid_rows : ndarray of int, optional
        Rows of ``X`` that serve as validation rows instead of ``X_valid`` and are not trained on.
    start : DenseTree, optional
        Initial parameters of the first run instead of random ones.
    progress : callable, optional
        Called with a ``Progress`` several times a second.
    """
    from gradtree.training.streams import stream

    held_out = np.asarray([] if valid_rows is None else valid_rows, dtype=np.int64)
    if X_valid is not None and len(held_out):
        raise ValueError("give either X_valid and y_valid or valid_rows, not both")
    kept = np.delete(np.arange(len(X)), held_out)
    samples = _samples(X, y, sample_weight, kept, config.dtype)
    if X_valid is not None and y_valid is not None:
        everyone = np.arange(len(X_valid))
        valid = _samples(X_valid, y_valid, valid_weight, everyone, config.dtype)
    else:
        valid = _samples(samples.X, samples.y, sample_weight, held_out, config.dtype)

    best: tuple[float, DenseTree] | None = None
    best_run, histories = 0, []
    for number, seed in enumerate(config.run_seeds()):
        draw = stream(config.stream).initial
        initial = start if start is not None and number == 0 else None
        initial = initial or draw(seed, config.depth, samples.X.shape[1], n_classes)
        run = _begin(initial, samples, valid, _seeds(seed, config), config)
        status = run.advance()
        while status == 0:
            if progress is not None:
                progress(_progress(run, number, config))
            status = run.advance()
        histories.append(_history(run, seed, bool(status == 1)))
        if progress is not None:
            progress(_progress(run, number, config))
        loss = histories[-1].best_loss
        if best is None or loss < best[0]:
            best, best_run = (loss, run.result()), number
    assert best is not None
    return TrainResult(
        best[1],
        tuple(histories),
        best_run,
        histories[best_run].best_epoch,
        sum(len(history.train_loss) for history in histories),
        config.run_seeds(),
    )


def _progress(run: EngineRun, number: int, config: TrainConfig) -> Progress:
    train_loss, valid_loss = run.losses
    return Progress(
        number,
        config.restarts + 1,
        len(train_loss),
        config.epochs,
        int(run.watch.best_epoch[0]),
        float(run.watch.best_loss[0]),
        float(train_loss[-1]) if len(train_loss) else float("nan"),
        float(valid_loss[-1]) if len(valid_loss) else float("nan"),
    )


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
        from gradtree.training.streams import stream

        self.config = config
        self._initial = start or stream(config.stream).initial(
            config.seed, config.depth, n_features, n_classes
        )
        self._run: EngineRun | None = None

    def learn(
        self,
        X: NDArray[Any],
        y: NDArray[Any],
        sample_weight: NDArray[Any] | None = None,
        epochs: int = 1,
    ) -> None:
        """Train for so many epochs on these samples."""
        samples = _samples(X, y, sample_weight, np.arange(len(X)), self.config.dtype)
        if self._run is None:
            nobody = _samples(samples.X, samples.y, None, np.arange(0), self.config.dtype)
            seeds = _seeds(self.config.seed, self.config)
            self._run = _begin(self._initial, samples, nobody, seeds, self.config)
        self._run.continue_with(samples, epochs)
        while self._run.advance() == 0:
            pass

    @property
    def dense(self) -> DenseTree:
        """A copy of the current parameters."""
        return self._initial if self._run is None else self._run.result()
