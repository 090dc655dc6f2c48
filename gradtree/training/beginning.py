"""What a run begins with: samples, seeds, a first tree, an engine."""

from typing import TYPE_CHECKING, Any

import numpy as np

from gradtree.engines.compiled import CompiledRun
from gradtree.engines.contract import Samples, Seeds
from gradtree.engines.streams import STREAMS, noise_key
from gradtree.settings.config import TrainConfig
from gradtree.settings.losses import NumberLoss
from gradtree.trees.dense import DenseTree
from gradtree.typing import Array

if TYPE_CHECKING:
    from gradtree.engines.reference import ReferenceRun

_ENOUGH_ROWS = 10_000


def samples_of(
    X: Array, y: Array, weight: Any, rows: Array, dtype: str, class_weight: Any = None
) -> Samples:
    """The listed rows as an engine takes them; ``weight`` includes that of the classes."""
    rows, labels = np.asarray(rows, dtype=np.int64), np.asarray(y, dtype=np.int64)
    X = np.ascontiguousarray(X, dtype=dtype)
    if weight is None:
        return Samples(X, labels, np.ones(len(X), dtype=np.float32), rows)
    weight = np.asarray(weight, dtype=np.float64)
    worth = weight if class_weight is None else weight / np.asarray(class_weight)[labels]
    mean = weight[rows].mean() if len(rows) else 1.0
    if not mean > 0:
        raise ValueError("sample weights must be positive for at least one training row")
    return Samples(X, labels, weight / mean, rows, worth)


def begin(
    initial: DenseTree, train: Samples, valid: Samples, seed: int, config: TrainConfig
) -> "CompiledRun | ReferenceRun":
    """A run of the engine that is asked for, with the draws of a seed."""
    seeds = Seeds(STREAMS[config.stream].order(seed), noise_key(seed))
    if config.engine == "compiled":
        return CompiledRun(initial, train, valid, seeds, config)
    try:
        from gradtree.engines.reference import ReferenceRun
    except ImportError as error:
        raise ImportError(
            "engine='tensorflow' needs TensorFlow: pip install 'gradtree-suite[tensorflow-cpu]' "
            "(or [tensorflow] for a graphics card); engine='compiled' needs nothing more"
        ) from error
    return ReferenceRun(initial, train, valid, seeds, config)


def first_tree(
    seed: int, columns: Array | None, n_features: int, n_classes: int, config: TrainConfig
) -> DenseTree:
    """The initial draw of a run; ``columns`` are sorted values to start thresholds from."""
    drawn = STREAMS[config.stream].initial(seed, config.depth, n_features, n_classes)
    if isinstance(config.loss, NumberLoss) and drawn.leaves.ndim == 2:
        leaves = drawn.leaves[:, : config.loss.targets.shape[1]]  # two, where three were drawn
        drawn = DenseTree(drawn.thresholds, drawn.logits, np.ascontiguousarray(leaves))
    return drawn if columns is None else at_quantiles(drawn, columns, seed)


def columns_of(samples: Samples, config: TrainConfig) -> Array | None:
    """Sorted values to start thresholds from, if they are to start there.

    Of many rows an even part stands for all.
    """
    if config.first_thresholds != "quantiles":
        return None
    rows = samples.rows
    if len(rows) > _ENOUGH_ROWS:
        rows = rows[np.linspace(0, len(rows) - 1, _ENOUGH_ROWS).astype(np.intp)]
    return np.sort(samples.X[rows], axis=0)


def at_quantiles(initial: DenseTree, columns: Array, seed: int) -> DenseTree:
    """A tree whose thresholds lie between values of their features, at random quantiles.

    Thresholds around zero, as the paper draws them, leave nodes that no row or every row passes to
    the left, wherever zero lies among the values.
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, 2]))
    last = len(columns) - 1
    below = (rng.random(initial.thresholds.shape) * last).astype(np.intp)
    above = np.minimum(below + 1, last)
    # Halves are added, not sums halved: two large numbers may not have a sum.
    thresholds = np.take_along_axis(columns, below, axis=0) * columns.dtype.type(0.5)
    thresholds += np.take_along_axis(columns, above, axis=0) * columns.dtype.type(0.5)
    return DenseTree(thresholds, initial.logits, initial.leaves)
