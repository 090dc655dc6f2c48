"""Runs of both engines on the same tree and the same rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradtree.engines.compiled import CompiledRun
from gradtree.engines.contract import Samples, Seeds
from gradtree.engines.streams import STREAMS, noise_key
from gradtree.settings.config import TrainConfig
from gradtree.settings.losses import CustomLoss, Loss
from gradtree.settings.selectors import Selector
from gradtree.trees.dense import DenseTree

GROUPS = ("thresholds", "logits", "leaves")


def brier(p, label, gradient):  # type: ignore[no-untyped-def]
    """Squared distance of the probabilities to the truth; a loss as a user would write it."""
    loss = 0.0
    for k in range(len(p)):
        off = p[k] - (1.0 if k == label else 0.0)
        gradient[k] = 2.0 * off
        loss += off * off
    return loss


LOSSES: dict[str, Loss | CustomLoss] = {
    "cross-entropy": Loss(),
    "cross-entropy-poly": Loss(poly_epsilon=2.0),
    "focal": Loss("focal", gamma=3.0),
    "focal-poly": Loss("focal", gamma=1.5, poly_epsilon=-1.0),
    "custom": CustomLoss(brier),
}

SELECTORS = {
    "entmax": Selector("entmax"),
    "entmax-cool": Selector("entmax", temperature=0.3),
    "gumbel": Selector("gumbel", temperature=0.7),
    "annealed": Selector("annealed", anneal_steps=4),
    "softmax": Selector("softmax", temperature=0.5),
}


def rows_of(
    X: NDArray[Any], y: NDArray[Any], dtype: str, weight: NDArray[Any] | None = None
) -> Samples:
    """All rows as the samples of an engine."""
    weight = np.ones(len(X)) if weight is None else weight / weight.mean()
    return Samples(np.asarray(X, dtype), y.astype(np.int64), weight, np.arange(len(X)))


def begin(
    tree: DenseTree, train: Samples, config: TrainConfig, valid: Samples | None = None
) -> Any:
    """A run from ``tree``; without validation rows unless some are given."""
    nobody = Samples(train.X, train.y, train.weight, np.arange(0))
    seeds = Seeds(STREAMS[config.stream].order(config.seed), noise_key(config.seed))
    if config.engine == "compiled":
        return CompiledRun(tree, train, valid or nobody, seeds, config)
    from gradtree.engines.reference import ReferenceRun

    return ReferenceRun(tree, train, valid or nobody, seeds, config)


def finish(run: Any) -> Any:
    """Advance to the end."""
    while run.advance() == 0:
        pass
    return run


def random_tree(
    rng: np.random.Generator, depth: int, n_features: int, n_classes: int, dtype: str
) -> DenseTree:
    shape = (2**depth - 1, n_features)
    leaves = (2**depth,) if n_classes == 2 else (2**depth, n_classes)
    parts = (rng.normal(size=shape), rng.normal(size=shape), rng.normal(size=leaves))
    return DenseTree(*(part.astype(dtype) for part in parts))
