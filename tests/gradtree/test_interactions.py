"""Interactions without marginal effects: what the best small tree finds that greedy ones miss."""

import pytest

from gradtree import SmallTreeClassifier
from scripts import interactions

LOST = pytest.mark.xfail(
    strict=True, reason="categories in a bad order of scores: their parity is found in part"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "seed"),
    [
        *[(name, seed) for name in interactions.TABLES for seed in (0, 1)],
        ("categories", 4),
        pytest.param("four categories", 3, marks=LOST),
    ],
)
def test_within_two_points_of_the_truth_with_fewer_than_30_nodes(name, seed):
    X, y, _ = interactions.draw(name, seed)
    unseen, labels, best = interactions.draw(name, seed + 100)
    model = SmallTreeClassifier(random_state=0).fit(X, y)
    assert model.score(unseen, labels) >= best - 0.02
    assert model.tree_.node_count < 30
