"""Which run and epoch to keep, where macro F1 or another score decides.

Every run offers two trees, of the epochs with the lowest loss and with the best F1 on the
validation rows. Few validation rows tell many trees apart badly, so a tree is judged twice and the
sum decides:

``H``  the score on the validation rows, with leaves refitted on the training rows alone;
``O``  the score on all rows, each predicted by the other rows of its leaf (leave-one-out).

The splits have seen the training rows that ``O`` counts, but a leaf that holds only a row or two is
of no use to it. Test rows have no part in this. ``"f1"`` leaves ties to the first; all other scores
break them by log loss, judged in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from gradtree.trees.dense import DenseTree

if TYPE_CHECKING:
    from gradtree.engines.contract import Samples

_CHUNK = 65_536
# A probability of zero counts as this in ties.
SMALLEST = 1e-6


def held_out_and_left_out(
    dense: DenseTree, train: Samples, valid: Samples, smoothing: float
) -> float:
    """``H + O`` of a tree; ``O`` alone without validation rows."""
    from gradtree.engines.scores import macro_f1

    n_classes = dense.n_classes
    parts = [_Part(dense, samples) for samples in (train, valid) if len(samples.rows)]
    tables = [part.table(len(dense.leaves), n_classes) for part in parts]
    prior = smoothing * _shares(sum(table.sum(axis=0) for table in tables))
    score = 0.0
    if len(parts) == 2:
        label = (tables[0] + prior).argmax(axis=1)
        score += macro_f1(parts[1].y, label[parts[1].leaf], parts[1].worth)
    everyone = sum(tables) + prior
    predicted = np.concatenate([part.left_out(everyone) for part in parts])
    y, worth = (np.concatenate([getattr(part, name) for part in parts]) for name in ("y", "worth"))
    return score + macro_f1(y, predicted, worth)


def by_score(
    dense: DenseTree, train: Samples, valid: Samples, smoothing: float, choose_by: Any
) -> tuple[float, float, float]:
    """``H + O`` of a tree by a score of scikit-learn's, by log loss for ties, and its error.

    The error is the standard error that a sum of two scores of so many rows has.

    Labels follow the weights of classes, probabilities do not. ``O`` alone counts without
    validation rows, or where the score of few of these is not defined.
    """
    parts = [_Part(dense, samples) for samples in (train, valid) if len(samples.rows)]
    shape = len(dense.leaves), dense.n_classes
    answers = [_Answers.of(parts, shape, smoothing, held_out) for held_out in (True, False)]
    score, loss, error = 0.0, 0.0, 0.0
    for one in answers[2 - len(parts) :]:
        found = one.score(choose_by)
        score += found if np.isfinite(found) else 0.0
        losses = one.losses()
        loss += float(np.average(losses, weights=one.worth))
        spread = np.sqrt(found * (1 - found)) if 0 <= found <= 1 else losses.std()
        error += float(spread / np.sqrt(len(losses)))
    return score, -loss, error


def by_cost(
    dense: DenseTree, train: Samples, valid: Samples, smoothing: float, costs: NDArray[np.float64]
) -> float:
    """``H + O`` of a tree by the mean cost, negative; see :func:`by_score`.

    ``costs`` are those of predicting a class (columns) where another is true (rows).
    """
    parts = [_Part(dense, samples) for samples in (train, valid) if len(samples.rows)]
    tables = [part.table(len(dense.leaves), dense.n_classes) for part in parts]
    prior = smoothing * _shares(sum(table.sum(axis=0) for table in tables))

    def mean_cost(asked: list[_Part], told: list[NDArray[np.float64]]) -> float:
        paid = [
            costs[part.y, (rows @ costs).argmin(axis=1)]
            for part, rows in zip(asked, told, strict=True)
        ]
        worth = np.concatenate([part.worth for part in asked])
        return float(np.average(np.concatenate(paid), weights=worth))

    everyone = sum(tables) + prior
    score = -mean_cost(parts, [part.others(everyone, part.weight) for part in parts])
    if len(parts) == 2:
        score -= mean_cost(parts[1:], [parts[1].others(tables[0] + prior, 0.0)])
    return score


class _Answers(ClassifierMixin, BaseEstimator):
    """Labels and probabilities of some rows, for scores to ask for."""

    def __init__(self, y: Any, worth: Any, label: Any, proba: Any) -> None:
        self.y, self.worth, self.label, self.proba = y, worth, label, proba
        self.classes_ = np.arange(proba.shape[1])

    @classmethod
    def of(
        cls, parts: list[_Part], shape: tuple[int, int], smoothing: float, held_out: bool
    ) -> _Answers:
        """Of the validation rows by the leaves of the training rows, or of all by the others."""
        asked = parts[-1:] if held_out else parts
        told: list[Any] = []
        for name in ("weight", "worth"):
            tables = [part.table(*shape, name) for part in parts]
            prior = smoothing * _shares(sum(table.sum(axis=0) for table in tables))
            table = (tables[0] if held_out else sum(tables)) + prior
            rows = [part.others(table, 0.0 if held_out else getattr(part, name)) for part in asked]
            told.append(np.concatenate(rows))
        y, worth = (np.concatenate([getattr(p, name) for p in asked]) for name in ("y", "worth"))
        total = told[1].sum(axis=1, keepdims=True)
        proba = np.where(total > 0, told[1] / np.where(total > 0, total, 1.0), 1.0 / shape[1])
        return cls(y, worth, told[0].argmax(axis=1), proba)

    def predict(self, X: Any) -> Any:
        return self.label

    def predict_proba(self, X: Any) -> Any:
        return self.proba

    def score(self, choose_by: Any) -> float:
        from gradtree.engines.scores import macro_f1

        if isinstance(choose_by, str) and choose_by == "f1_macro":
            return macro_f1(self.y, self.label, self.worth)
        scorer = get_scorer(choose_by)
        weight = None if np.ptp(self.worth) == 0 else self.worth
        more = {} if weight is None else {"sample_weight": weight}
        return float(scorer(self, None, self.y, **more))

    def losses(self) -> NDArray[np.float64]:
        """The log loss of every row."""
        own = self.proba[np.arange(len(self.y)), self.y]
        return np.asarray(-np.log(np.maximum(own, SMALLEST)))


def _shares(weight: Any) -> NDArray[np.float64]:
    return np.asarray(weight / weight.sum())


class _Part:
    """Training or validation rows, and the leaves that they reach."""

    def __init__(self, dense: DenseTree, samples: Samples) -> None:
        rows = samples.rows
        self.leaf = dense.leaf_of(samples.X[rows])
        self.y = samples.y[rows]
        self.weight = np.asarray(samples.weight, dtype=np.float64)[rows]
        self.worth = np.asarray(samples.score_weight, dtype=np.float64)[rows]

    def table(self, n_leaves: int, n_classes: int, by: str = "weight") -> NDArray[np.float64]:
        """Weight of every class at every leaf."""
        own = getattr(self, by)
        cells = np.bincount(self.leaf * n_classes + self.y, own, n_leaves * n_classes)
        return np.asarray(cells.reshape(n_leaves, n_classes))

    def others(self, table: NDArray[np.float64], own: Any) -> NDArray[np.float64]:
        """What the leaf of every row has of each class, apart from the row's own weight."""
        rows = table[self.leaf]
        rows[np.arange(len(rows)), self.y] -= own
        return np.maximum(rows, 0.0)

    def left_out(self, table: NDArray[np.float64]) -> NDArray[np.intp]:
        """The class of every row according to the others of its leaf."""
        found = np.empty(len(self.y), dtype=np.intp)
        for start in range(0, len(self.y), _CHUNK):
            part = slice(start, start + _CHUNK)
            others = table[self.leaf[part]]
            others[np.arange(len(others)), self.y[part]] -= self.weight[part]
            found[part] = others.argmax(axis=1)
        return found
