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

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from gradtree.engines.contract import Samples
from gradtree.engines.scores import macro_f1
from gradtree.trees.dense import DenseTree
from gradtree.typing import Floats

# A probability of zero counts as this in ties.
SMALLEST = 1e-6


def judged(
    dense: DenseTree, train: Samples, valid: Samples, smoothing: float, choose_by: Any, costs: Any
) -> tuple[float, float, float]:
    """``H + O`` of a tree, the same by log loss for ties, and its standard error.

    ``costs``, of predicting a class (columns) where another is true (rows), decide instead of a
    score if there are any. Labels follow the weights of classes, probabilities do not. ``O`` alone
    counts without validation rows, or where the score of few of these is not defined.
    """
    parts = [_Part(dense, samples) for samples in (train, valid) if len(samples.rows)]
    shape = len(dense.leaves), dense.n_classes
    answers = [_Answers(parts, shape, smoothing, held_out) for held_out in (True, False)]
    score, loss, error = 0.0, 0.0, 0.0
    plainly = isinstance(choose_by, str) and choose_by == "f1"
    for one in answers[2 - len(parts) :]:
        if costs is not None:
            score -= one.mean_cost(costs)
            continue
        found = one.score(choose_by)
        score += found if np.isfinite(found) else 0.0
        if plainly:
            continue
        losses = one.losses()
        loss += float(np.average(losses, weights=one.worth))
        spread = np.sqrt(found * (1 - found)) if 0 <= found <= 1 else losses.std()
        error += float(spread / np.sqrt(len(losses)))
    return score, -loss, error


class _Answers(ClassifierMixin, BaseEstimator):
    """Labels and probabilities of some rows, for scores to ask for.

    They are validation rows by the leaves of the training rows, or all rows by the others.
    """

    def __init__(
        self, parts: list[_Part], shape: tuple[int, int], smoothing: float, held_out: bool
    ) -> None:
        asked = parts[-1:] if held_out else parts
        self.y, self.worth = (
            np.concatenate([getattr(part, name) for part in asked]) for name in ("y", "worth")
        )
        told: list[Any] = []
        for name in ("weight", "worth"):
            tables = [part.table(*shape, name) for part in parts]
            shares = sum(table.sum(axis=0) for table in tables)
            table = (tables[0] if held_out else sum(tables)) + smoothing * (shares / shares.sum())
            rows = [part.others(table, 0.0 if held_out else getattr(part, name)) for part in asked]
            told.append(np.concatenate(rows))
            if all(part.unweighted for part in parts):
                break
        self.shares = told[0]
        total = told[-1].sum(axis=1, keepdims=True)
        self.label = told[0].argmax(axis=1)
        self.proba = np.where(total > 0, told[-1] / np.where(total > 0, total, 1.0), 1.0 / shape[1])
        self.classes_ = np.arange(shape[1])

    def predict(self, X: Any) -> Any:
        return self.label

    def predict_proba(self, X: Any) -> Any:
        return self.proba

    def score(self, choose_by: Any) -> float:
        if isinstance(choose_by, str) and choose_by in ("f1", "f1_macro"):
            return macro_f1(self.y, self.label, self.worth)
        more = {} if np.ptp(self.worth) == 0 else {"sample_weight": self.worth}
        return float(get_scorer(choose_by)(self, None, self.y, **more))

    def mean_cost(self, costs: Floats) -> float:
        paid = costs[self.y, (self.shares @ costs).argmin(axis=1)]
        return float(np.average(paid, weights=self.worth))

    def losses(self) -> Floats:
        own = self.proba[np.arange(len(self.y)), self.y]
        return np.asarray(-np.log(np.maximum(own, SMALLEST)))


class _Part:
    """Training or validation rows, and the leaves that they reach."""

    def __init__(self, dense: DenseTree, samples: Samples) -> None:
        rows = samples.rows
        self.leaf = dense.leaf_of(samples.X, rows)
        self.y = samples.y[rows]
        self.weight = np.asarray(samples.weight, dtype=np.float64)[rows]
        self.worth = np.asarray(samples.score_weight, dtype=np.float64)[rows]
        self.unweighted = np.array_equal(self.weight, self.worth)

    def table(self, n_leaves: int, n_classes: int, by: str) -> Floats:
        """Weight of every class at every leaf."""
        own = getattr(self, by)
        cells = np.bincount(self.leaf * n_classes + self.y, own, n_leaves * n_classes)
        return np.asarray(cells.reshape(n_leaves, n_classes))

    def others(self, table: Floats, own: Any) -> Floats:
        """What the leaf of every row has of each class, apart from the row's own weight."""
        rows = table[self.leaf]
        rows[np.arange(len(rows)), self.y] -= own
        return np.maximum(rows, 0.0)
