"""One registry each for losses, selectors, split functions and streams: all names come from it."""

from __future__ import annotations

import inspect

import pytest
from small_problems import boxes, quick, revised

from baselines.gradtree_variants import NEW_DEFAULTS
from gradtree import PAPER, GradTreeClassifier
from gradtree.engines.streams import STREAMS, stream
from gradtree.inputs.parameters import settled
from gradtree.settings.config import CHOICES, ENGINES, FIRST_THRESHOLDS
from gradtree.settings.losses import LOSSES, Loss
from gradtree.settings.selectors import SELECTORS, Selector
from gradtree.settings.splits import SPLITS

REGISTRIES = {
    "loss": LOSSES,
    "selector": SELECTORS,
    "split": SPLITS,
    "stream": STREAMS,
    "engine": ENGINES,
    "choose_by": CHOICES,
    "first_thresholds": FIRST_THRESHOLDS,
}
NOT_OF_THE_METHOD = {"random_state", "verbose", "n_jobs"}


@pytest.mark.parametrize("parameter", REGISTRIES)
def test_the_help_and_the_error_name_every_entry(parameter):
    help_text = inspect.getdoc(GradTreeClassifier)
    with pytest.raises(ValueError, match=f"'{parameter}' .* Got 'nonsense'") as caught:
        quick(**{parameter: "nonsense"}).fit(*boxes(60))
    for name in REGISTRIES[parameter]:
        assert f'"{name}"' in help_text
        assert repr(name) in str(caught.value)


@pytest.mark.parametrize("parameter", [name for name in REGISTRIES if name != "engine"])
def test_every_entry_trains(parameter):
    X, y = boxes(120, n_classes=3)
    for name in REGISTRIES[parameter]:
        model = revised(epochs=20, restarts=0, **{parameter: name}).fit(X, y)
        assert model.score(X, y) > 0.4, name


def test_unknown_names_are_refused_where_they_are_looked_up():
    for build in (lambda: Loss("hinge"), lambda: Selector("hinge"), lambda: stream("hinge")):
        with pytest.raises(ValueError, match="hinge"):
            build()


def test_the_paper_names_every_parameter():
    assert set(PAPER) == set(GradTreeClassifier().get_params()) - NOT_OF_THE_METHOD


def test_the_suites_revised_learner_trains_as_the_estimator_does():
    """Its ending and its way with ties are those that its runs on record have."""
    params = settled(GradTreeClassifier().get_params(), 2)
    endings = {"merge_leaves", "ccp_alpha", "choose_by"}
    assert {name for name in NEW_DEFAULTS if params[name] != NEW_DEFAULTS[name]} == endings
