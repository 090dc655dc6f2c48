"""What every learner of classes must do, whatever it is."""

import functools
import json
from dataclasses import replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from learner_splits import fit, made_up_split
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

import baselines
from baselines import Fitted, class_probabilities, estimators
from baselines.contract import CLASSES
from datasets.split import Split
from experiments.commands.trees import in_raw_units, tree_entry
from gradtree import GradTreeClassifier
from gradtree.trees.tree import LEAF
from gradtree.views.plot import plot_tree

LEARNERS = {s: one for s, one in baselines.learners().items() if one.tasks == CLASSES}
TASKS = {"binary": 2, "multi": 3}
GRADTREE = {"depth": 4, "epochs": 60, "patience": 30, "restarts": 1, "lr_leaf": 0.1}
GENETIC = {"n_trees": 40, "max_iter": 15}
QUICK: dict[str, dict[str, Any]] = {
    **{slug: GRADTREE for slug in LEARNERS if slug.startswith("gradtree")},
    "gradtree-tuned": {name: value for name, value in GRADTREE.items() if name != "depth"},
    **{slug: GENETIC for slug in LEARNERS if slug.startswith("genetictree")},
    **{key: {"candidates": 4, "folds": 2} for key in ("gradtree-nested", "cart-nested")},
    "dndt": {"epochs": 40},
    "small-tree": {**GRADTREE, "cv": 2},
    "boosting": {"max_iter": 10, "min_samples_leaf": 5},
    **{slug: {"max_leaves": 8} for slug in ("dl85-tuned", "streed", "licketysplit", "contree")},
}
WEIGHED = ("gradtree-estimator", "small-tree")
"""Probabilities are shares of the rows; class weights decide the class alone."""


def test_the_estimator_is_fitted_with_its_own_defaults():
    own = GradTreeClassifier().get_params()
    assert {name: own[name] for name in estimators.DEFAULTS} == estimators.DEFAULTS


every_learner = pytest.mark.parametrize("slug", LEARNERS)
every_task = pytest.mark.parametrize("task", TASKS)


@functools.cache
def fitted(slug: str, task: str) -> tuple[Split, Fitted]:
    # Under protocol paper, ST Gumbel-softmax does not predict with its tree, as a quirk.
    split = made_up_split(TASKS[task], protocol="clean" if slug == "gradtree-gumbel" else "paper")
    return split, fit(slug, split, **QUICK.get(slug, {}))


@every_learner
@every_task
def test_learns_more_than_the_largest_class(slug, task):
    _, model = fitted(slug, task)
    accuracy = np.mean(model.estimator.predict(model.X_fit) == model.y_fit)
    assert accuracy > np.bincount(model.y_fit).max() / len(model.y_fit) + 0.1


@every_learner
@every_task
def test_probabilities_and_predictions_agree(slug, task):
    split, model = fitted(slug, task)
    probabilities = class_probabilities(model.estimator, split.X_test, split.n_classes)
    assert probabilities.shape == (len(split.X_test), split.n_classes)
    assert probabilities.min() >= 0.0
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-6)
    if slug not in WEIGHED:
        predicted = model.estimator.predict(split.X_test)
        np.testing.assert_array_equal(predicted, probabilities.argmax(axis=1))


@every_learner
@every_task
def test_the_tree_predicts_what_the_estimator_predicts(slug, task):
    split, model = fitted(slug, task)
    if model.tree is None:
        assert model.size is None
        return
    assert model.tree.n_features == split.n_features
    for X in (model.X_fit, split.X_test):
        np.testing.assert_array_equal(model.tree.predict(X), model.estimator.predict(X))
        expected = class_probabilities(model.estimator, X, split.n_classes)
        np.testing.assert_allclose(model.tree.predict_proba(X), expected, rtol=1e-6, atol=1e-9)


@every_learner
@every_task
def test_its_tree_can_be_drawn_in_raw_units(slug, task):
    """Whatever the order of a learner's nodes: splits and drawing number them alike."""
    split, model = fitted(slug, task)
    if model.tree is None:
        return
    raw = pd.DataFrame(split.X_train, columns=list(split.feature_names))
    split = replace(split, preprocessing=FunctionTransformer(np.asarray))
    facts = {"method": slug, "experiment": "default", "protocol": "paper", "trial": 0}
    entry = tree_entry(model.tree, split, raw, {**facts, "seed": 42, "test_f1": 0.5})
    tested = {
        node: split.feature_names[model.tree.feature[node]]
        for node in np.flatnonzero(model.tree.children_left != LEAF).tolist()
    }
    assert {int(node): column for node, (column, *_) in entry["splits"].items()} == tested
    axes = plot_tree(in_raw_units(model.tree, split.preprocessing, raw), max_depth=4)
    plt.close(axes.figure)


@every_learner
@every_task
def test_the_same_seed_gives_the_same_model(slug, task):
    split, model = fitted(slug, task)
    again = fit(slug, split, **QUICK.get(slug, {}))
    assert again.tree == model.tree
    np.testing.assert_array_equal(
        again.estimator.predict_proba(split.X_test), model.estimator.predict_proba(split.X_test)
    )


@every_learner
@every_task
def test_size_is_counted_as_in_the_paper(slug, task):
    split, model = fitted(slug, task)
    if slug == "dndt":
        assert model.size == 2 * split.n_features + 2**split.n_features
    elif slug in ("dl85", "dl85-original", "dl85-pytrees", "dl85-streed", "optimal-tree"):
        assert model.size == count_nodes(model.estimator.found_)
        assert model.size <= 31
    elif model.tree is not None:
        assert model.size == model.tree.node_count


def count_nodes(node: Any) -> int:
    children = [getattr(node, side) for side in ("yes", "no") if hasattr(node, side)]
    return 1 + sum(count_nodes(child) for child in children)


@every_learner
def test_estimators_take_frames_and_arrays(slug):
    split, model = fitted(slug, "binary")
    names = list(split.feature_names)
    frame, test_frame = (pd.DataFrame(X, columns=names) for X in (split.X_train, split.X_test))
    labels = np.array(["no", "yes"])[split.y_train]
    by_array = clone(model.estimator).fit(split.X_train, labels)
    by_frame = clone(model.estimator).fit(frame, labels)
    np.testing.assert_array_equal(by_frame.predict(test_frame), by_array.predict(split.X_test))
    assert set(by_frame.predict(test_frame)) <= {"no", "yes"}
    assert list(by_frame.feature_names_in_) == names


@every_learner
def test_a_class_without_training_rows(slug):
    """Its probability may be anything small, but the columns stay in their places."""
    split = made_up_split(3, protocol="clean")
    labels = {f"y_{part}": getattr(split, f"y_{part}") + 1 for part in ("train", "valid", "test")}
    shifted = replace(split, **labels, class_names=("nobody", *split.class_names))
    model = fit(slug, shifted, **QUICK.get(slug, {}))
    probabilities = class_probabilities(model.estimator, shifted.X_test, 4)
    assert probabilities.shape == (len(shifted.X_test), 4)
    told = probabilities.argmax(axis=1)
    np.testing.assert_array_equal(model.estimator.predict(shifted.X_test), told)
    assert np.mean(model.estimator.predict(model.X_fit) == model.y_fit) > 0.45
    if model.tree is not None:
        assert model.tree.n_classes == 4
        np.testing.assert_array_equal(model.tree.predict(shifted.X_test), told)


@every_learner
@every_task
def test_parameters_are_complete_and_can_be_written_down(slug, task):
    learner = LEARNERS[slug]
    defaults = learner.defaults(task)
    tuned = baselines.published_params(slug, "Iris", task)
    assert json.loads(json.dumps(defaults)) == defaults
    assert tuned.keys() == defaults.keys()
    assert set(learner.space) <= set(defaults)
    for values in learner.space.values():
        assert len(values) > 1
