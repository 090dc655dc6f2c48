"""Interactions without marginal effects: what the best small tree finds that greedy ones miss."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from gradtree import SmallTreeClassifier

N_ROWS = 1500
NOISE = 0.1
LOST = pytest.mark.xfail(
    strict=True, reason="categories in a bad order of scores: their parity is found in part"
)


def parity(X: Any, n_columns: int) -> Any:
    return np.logical_xor.reduce(np.asarray(X)[:, :n_columns] > 0.5, axis=1)


def interaction(name: str, seed: int, n_rows: int) -> tuple[Any, Any, float]:
    """Rows, labels and the accuracy of the truth on them, ten columns each.

    The board has three by three fields. One of four by four needs 31 nodes, and no tree of fewer
    than 30 gets more than 15 of its 16 fields right.
    """
    random = np.random.default_rng(seed)
    X = random.random((n_rows, 10))
    flipped = random.random(n_rows) < NOISE
    if name.startswith("xor"):
        truth = parity(X, int(name[3]))
        y = truth ^ flipped if name.endswith("noise") else truth
        return X, y, float(np.mean(y == truth))
    if name == "checkerboard":
        return X, np.floor(X[:, :2] * 3).sum(axis=1) % 2 == 1, 1.0
    if name == "four categories":
        letters = pd.DataFrame(np.array(list("acbd"))[(X * 4).astype(int)]).add_prefix("c")
        return letters, parity(X, 2), 1.0
    words = pd.DataFrame(np.where(X > 0.5, "yes", "no"), columns=[f"c{i}" for i in range(10)])
    return words, parity(X, 3), 1.0


NAMES = ["xor2", "xor2 noise", "xor3", "xor3 noise", "checkerboard", "categories"]
NAMES += ["four categories"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "seed"),
    [
        *[(name, seed) for name in NAMES for seed in (0, 1)],
        ("categories", 4),
        pytest.param("four categories", 3, marks=LOST),
    ],
)
def test_within_two_points_of_the_truth_with_fewer_than_30_nodes(name, seed):
    X, y, _ = interaction(name, seed, N_ROWS)
    unseen, labels, best = interaction(name, seed + 100, N_ROWS)
    model = SmallTreeClassifier(random_state=0).fit(X, y)
    assert model.score(unseen, labels) >= best - 0.02
    assert model.tree_.node_count < 30
