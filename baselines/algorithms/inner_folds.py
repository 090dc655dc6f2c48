"""The one cross-validation by which learners beyond the paper choose how large a tree to grow.

Everyone gets the same five folds of the same rows. Only real rows are held
out and scored: rows that rebalancing made up, or copied, say nothing about
the next real one. What a fold trains on is rebalanced as its split was, by
copies of the fold's own rows, so that no copy of a held-out row is learned.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradtree.engines.scores import macro_f1

if TYPE_CHECKING:
    from datasets.split import Split
    from gradtree.trees.tree import Tree

N_FOLDS = 5
Candidate = TypeVar("Candidate")


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to learn from, and real rows to be scored on."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_held: NDArray[np.float64]
    y_held: NDArray[np.int64]

    def score(self, predicted: NDArray[Any]) -> float:
        """Macro F1 of what is predicted of the held-out rows."""
        return macro_f1(self.y_held, predicted)


def real_rows(split: Split) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Training and validation rows without those that rebalancing appended."""
    n = split.provenance.rows_before_rebalancing
    X = np.concatenate([split.X_train[:n], split.X_valid])
    return X, np.concatenate([split.y_train[:n], split.y_valid])


def inner_folds(split: Split, seed: int, n_folds: int = N_FOLDS) -> list[Fold]:
    """Stratified folds of the real rows, the same for every learner."""
    from gradtree.inputs.folds import dealt_folds

    X, y = real_rows(split)
    shares = np.bincount(split.y_train_valid, minlength=split.n_classes)
    random = np.random.default_rng(seed)
    folds = []
    for inside, held in dealt_folds(n_folds, y, np.arange(len(y)), seed):
        rows = inside[rebalanced(y[inside], shares, random)]
        folds.append(Fold(X[rows], y[rows], X[held], y[held]))
    return folds


def rebalanced(
    y: NDArray[np.int64], shares: NDArray[np.int64], random: np.random.Generator
) -> NDArray[np.intp]:
    """Positions of all rows, then copies that give the classes the shares they shall have."""
    counts = np.bincount(y, minlength=len(shares))
    present = (counts > 0) & (shares > 0)
    per_share = (counts[present] / shares[present]).max()
    wanted = np.where(present, np.round(shares * per_share).astype(np.int64), 0)
    copies = [
        random.choice(np.flatnonzero(y == label), wanted[label] - counts[label])
        for label in np.flatnonzero(wanted > counts)
    ]
    return np.concatenate([np.arange(len(y)), *copies])


def best_of(candidates: Sequence[Candidate], scores: NDArray[np.float64]) -> Candidate:
    """The candidate with the best mean over folds; of equal ones the first, so the smallest tree.

    ``scores`` has the shape (n_folds, n_candidates).
    """
    means = np.round(scores.mean(axis=0), 12)  # equal folds in another order are equal
    return candidates[int(means.argmax())]


def tuned(
    candidates: Sequence[Candidate],
    fit: Callable[[Candidate, Fold], Any],
    folds: Sequence[Fold],
    seconds: float = np.inf,
) -> tuple[Candidate, int, float]:
    """Fit every candidate to every fold and choose: it, how many were compared, its mean score.

    After so many ``seconds`` of the processor no further candidate is begun.
    """
    began = time.process_time()
    scores: list[list[float]] = []
    for candidate in candidates:
        if scores and time.process_time() - began > seconds:
            break
        models = [fit(candidate, fold) for fold in folds]
        told = [model.predict(fold.X_held) for model, fold in zip(models, folds, strict=True)]
        scores.append([fold.score(each) for fold, each in zip(folds, told, strict=True)])
    table = np.array(scores).T
    best = best_of(range(len(scores)), table)
    return candidates[best], len(scores), float(table.mean(axis=0)[best])


def over_classes(tree: Tree, classes: NDArray[Any], n_classes: int) -> Tree:
    """``tree``, whose values follow ``classes``, with one value per class of the dataset."""
    every = {"value": tree.value, "decision": tree.decision, "class_counts": tree.class_counts}
    changes: dict[str, Any] = {
        name: spread(part, classes, n_classes) for name, part in every.items() if part is not None
    }
    return replace(tree, **changes)


def spread(seen: NDArray[Any], classes: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Put column i of ``seen`` at column ``classes[i]`` of a matrix of ``n_classes`` columns."""
    every = np.zeros((len(seen), n_classes), dtype=seen.dtype)
    every[:, classes.astype(np.intp)] = seen
    return every
