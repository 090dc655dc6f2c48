"""How learners are found, and what is published about them."""

from dataclasses import replace

import pandas as pd
import pytest

import baselines
from baselines.contract import Learner

PAPER_METHODS = ["gradtree", "dndt", "genetictree", "dl85", "cart"]


def test_the_papers_columns_come_first_in_its_order_and_by_its_names():
    assert list(baselines.learners())[:5] == PAPER_METHODS
    printed = set(pd.read_csv(baselines.PAPER / "test_f1_optimized.csv")["method"])
    assert printed == {baselines.learner(slug).name for slug in PAPER_METHODS}


def test_an_unknown_learner_is_told_its_neighbours():
    with pytest.raises(KeyError, match="did you mean genetictree"):
        baselines.learner("GeneticTre")
    with pytest.raises(KeyError, match="cart"):
        baselines.learner("xyz")


def test_listing_learners_imports_none_of_their_libraries(python):
    heavy = ["sklearn", "numba", "tensorflow", "pydl85", "pystreed", "pandas", "scipy"]
    program = (
        "import sys, baselines; baselines.learners(); "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    assert python(program) == "[]\n"


@pytest.mark.parametrize("slug", ["gradtree", "dndt", "cart"])
def test_every_published_value_is_in_the_search_space(slug):
    learner = baselines.learner(slug)
    for dataset in pd.read_csv(baselines.PAPER / learner.published)["dataset"]:
        tuned = baselines.published_params(slug, dataset, "binary")
        for name, values in learner.space.items():
            assert tuned[name] in values, (dataset, name)


def test_what_a_learner_cannot_do_is_a_reason_to_skip():
    dndt = baselines.learner("dndt")
    assert dndt.skip(12, 2) is None
    assert dndt.why_not(13, 2) == "n>12"
    cart, numbers = baselines.learner("cart"), baselines.learner("cart-regression")
    assert (cart.why_not(4, 2), cart.why_not(4, 7)) == (None, None)
    assert (cart.why_not(4, 0), numbers.why_not(4, 2)) == ("classes only", "numbers only")
    assert numbers.why_not(4, 0) is None
    assert replace(cart, tasks=("multi",)).why_not(4, 2) == "multi only"

    lacking: Learner = replace(cart, needs=("json", "no_such_library"))
    assert lacking.why_not(4, 2) == "no_such_library not installed"
    told = replace(lacking, installs="solvers").why_not(4, 2)
    assert told == "no_such_library not installed; pip install -e '.[solvers]'"
