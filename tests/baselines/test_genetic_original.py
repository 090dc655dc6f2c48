"""Our genetic tree and the library, fitted to the same rows."""

from __future__ import annotations

import subprocess
import time

import numpy as np
import pytest
from genetic_original import PYTHON, canonical_of, fit_original
from sklearn.datasets import make_classification

from baselines.algorithms.genetic.estimator import GeneticTreeClassifier

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PYTHON is None, reason="GENETIC_TREE_PYTHON names no Python 3.8"),
]


@pytest.mark.parametrize("penalty", [0.01, 0.0])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", [42, 5])
def test_both_grow_the_same_tree(penalty: float, n_classes: int, seed: int) -> None:
    rows, y = make_classification(
        600, 8, n_informative=6, n_classes=n_classes, flip_y=0.2, random_state=seed
    )
    params = {
        "n_trees": 150,
        "max_iter": 60,
        "cross_prob": 0.8,
        "mutation_prob": 0.6,
        "depth_penalty": penalty,
    }
    theirs = fit_original(rows[:450], y[:450], params, seed, rows[450:])
    ours = GeneticTreeClassifier(**params, random_state=seed).fit(rows[:450], y[:450])
    assert ours.tree_ == canonical_of(theirs, rows[:450], y[:450])
    assert ours.best_fitness_.tolist() == theirs["best_fitness"].tolist()
    assert (ours.predict(rows[450:]) == theirs["predicted"]).all()


def test_single_feature_kills_the_original() -> None:
    X = np.arange(10.0)[:, None]
    with pytest.raises(subprocess.CalledProcessError, match="SIGFPE"):
        fit_original(X, np.arange(10) % 2, {"max_iter": 5}, 42, X)


def test_at_least_five_times_faster(capsys: pytest.CaptureFixture[str]) -> None:
    """20,000 rows of 60 features, taking turns, processor time of one thread each."""
    rows, y = make_classification(20_000, 60, n_informative=10, random_state=0)
    params = {"max_iter": 5}
    GeneticTreeClassifier(**params, random_state=0).fit(rows[:100], y[:100])  # compiles
    ours, theirs = [], []
    for _ in range(3):
        theirs.append(float(fit_original(rows, y, params, 42, rows[:1])["cpu_seconds"]))
        began = time.process_time()
        GeneticTreeClassifier(**params, random_state=42).fit(rows, y)
        ours.append(time.process_time() - began)
    ratio = np.median(theirs) / np.median(ours)
    with capsys.disabled():
        print(f"\noriginal {np.median(theirs):.2f} s, ours {np.median(ours):.3f} s: {ratio:.0f}x")
    assert ratio > 5
