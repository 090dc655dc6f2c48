"""The genetic tree as a classifier, and against what the original grew."""

import json
from typing import Any

import numpy as np
import pytest
import sklearn.datasets
from genetic_original import NODES, PYTHON, TREES, fit_original
from sklearn.utils.estimator_checks import parametrize_with_checks

import baselines
from baselines.algorithms.genetic.estimator import GeneticTreeClassifier, canonical
from baselines.algorithms.genetic.evolution import Settings, is_last
from gradtree.trees.tree import LEAF, Tree

RECORDED = json.loads(TREES.read_text())


def canonical_of(grown: Any, X: np.ndarray, y: np.ndarray) -> Tree:
    """The canonical tree of the library's arrays, which have labels at the leaves."""
    nodes = {name: np.asarray(grown[name]) for name in NODES}
    classes, coded = np.unique(y, return_inverse=True)
    indices = np.searchsorted(classes, nodes["feature"])
    nodes["feature"] = np.where(nodes["left"] == LEAF, indices, nodes["feature"])
    return canonical(**nodes, X=X.astype(np.float32), y=coded, n_classes=len(classes))


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: f"{case['data']}-{case['params']}")
def test_grows_the_tree_of_the_original(case):
    X, y = getattr(sklearn.datasets, f"load_{case['data']}")(return_X_y=True)
    model = GeneticTreeClassifier(**case["params"], random_state=case["seed"]).fit(X, y)
    assert model.tree_ == canonical_of(case["tree"], X, y)
    assert model.best_fitness_.tolist() == case["best_fitness"]


@pytest.mark.slow
@pytest.mark.skipif(PYTHON is None, reason="GENETIC_TREE_PYTHON names no Python 3.8")
@pytest.mark.parametrize("penalty", [0.01, 0.0])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", [42, 5])
def test_both_grow_the_same_tree(penalty, n_classes, seed):
    """The library itself and ours, fitted to the same rows."""
    rows, y = sklearn.datasets.make_classification(
        600, 8, n_informative=6, n_classes=n_classes, flip_y=0.2, random_state=seed
    )
    params = {"n_trees": 150, "max_iter": 60, "cross_prob": 0.8, "mutation_prob": 0.6}
    params["depth_penalty"] = penalty
    theirs = fit_original(rows[:450], y[:450], params, seed, rows[450:])
    ours = GeneticTreeClassifier(**params, random_state=seed).fit(rows[:450], y[:450])
    assert ours.tree_ == canonical_of(theirs, rows[:450], y[:450])
    assert ours.best_fitness_.tolist() == theirs["best_fitness"].tolist()
    assert (ours.predict(rows[450:]) == theirs["predicted"]).all()


@parametrize_with_checks([GeneticTreeClassifier(max_iter=60, n_trees=100)])
def test_is_a_scikit_learn_classifier(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def wine() -> tuple[np.ndarray, np.ndarray]:
    return sklearn.datasets.load_wine(return_X_y=True)


def small(**params: Any) -> GeneticTreeClassifier:
    return GeneticTreeClassifier(**{"max_iter": 15, "n_trees": 60, "random_state": 0, **params})


def test_one_feature_and_one_class_are_refused(wine):
    X, y = wine
    with pytest.raises(ValueError, match="at least 2 features"):
        small().fit(X[:, :1], y)
    with pytest.raises(ValueError, match="at least 2 classes"):
        small().fit(X, np.zeros_like(y))
    skip = baselines.learner("genetictree").skip
    assert (skip(1, 2), skip(2, 1)) == ("n<2", "c<2")


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"n_trees": 1}, "n_trees"),
        ({"cross_prob": 1.5}, "cross_prob"),
        ({"mutation_prob": -0.1}, "mutation_prob"),
        ({"n_thresholds": 0}, "n_thresholds"),
        ({"n_thresholds": 40_000}, "n_thresholds"),
        ({"mutation_prob": 0, "n_elitism": 0}, "die out"),
    ],
)
def test_impossible_parameters_are_refused(wine, params, named):
    with pytest.raises(ValueError, match=named):
        small(**params).fit(*wine)


def generations(fitness: list[float], **settings: Any) -> int:
    return next(i for i in range(99) if is_last(fitness[: i + 1], Settings(**settings)))


def test_after_a_dip_only_the_smallest_of_the_window_has_to_be_exceeded():
    dip = [0.9, 0.9, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.7, 0.7]
    assert generations(dip, patience=3, max_iter=9) == 9


def test_leaves_predict_majorities_and_keep_their_class_among_equals():
    X = np.array([[0], [0], [1], [1], [2], [2], [2]], dtype=np.float32)
    y = np.array([0, 1, 1, 1, 0, 0, 2])
    left, right = np.array([1, -1, 3, -1, 5, -1, -1]), np.array([2, -1, 4, -1, 6, -1, -1])
    feature = np.array([0, 1, 0, 0, 0, 2, 2])
    threshold = np.array([0.0, 0, 1, 0, 5, 0, 0])
    tree = canonical(left, right, feature, threshold, X, y, n_classes=3)
    tied, majority, minority, empty = np.flatnonzero(tree.children_left == -1)
    assert tree.value[tied].argmax() == 1
    assert tree.value[tied] == pytest.approx([0.5, 0.5, 0])
    assert tree.value[majority].tolist() == [0, 1, 0]
    assert tree.value[minority].argmax() == 0
    assert tree.value[empty].argmax() == 2
    assert tree.value[empty] == pytest.approx([1 / 3] * 3)
    assert tree.n_node_samples.tolist() == [7, 2, 5, 2, 3, 3, 0]
