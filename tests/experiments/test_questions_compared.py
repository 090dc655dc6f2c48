"""GradTree against CART, selectors, quirks, new defaults and the leak, on invented runs."""

import math
from typing import Any

import pytest
from analysis_support import answered, make_runs

from experiments.analysis.pairwise import by_task
from experiments.analysis.printed import printed
from experiments.analysis.questions import against_cart, protocols, variants
from experiments.analysis.runs import Runs

PAPER = printed()
TASK = PAPER.datasets["task"].to_dict()
MULTI = [slug for slug in TASK if TASK[slug] == "multi"]
PAIR = [({}, ("paper", "tuned", "gradtree"), ("paper", "tuned", "cart"))]


def against(gaps: dict[str, float], *places: tuple[str, str, str, str]) -> dict[Any, list[float]]:
    """Per (protocol, experiment, mine, other): the other at 0.7, mine above by the task's gap."""
    cells = {}
    for protocol, experiment, mine, other in places:
        for at, slug in enumerate(TASK):
            cells[protocol, experiment, slug, other] = [0.7] * 10
            above = 0.7 + gaps[TASK[slug]] + 0.001 * (at % 3 - 1)
            cells[protocol, experiment, slug, mine] = [above] * 10
    return cells


def test_datasets_without_every_trial_or_with_other_trials_do_not_enter():
    cells: dict[Any, list[Any]] = {}
    for slug in MULTI[:7]:
        cells["paper", "tuned", slug, "cart"] = [0.7] * 10
        cells["paper", "tuned", slug, "gradtree"] = [0.8] * 9 + [None if slug == "iris" else 0.8]
    cells["paper", "tuned", "wine", "gradtree"] = [0.8] * 8
    found = by_task(make_runs(cells), PAPER, PAIR).set_index("scope")
    assert MULTI.index("wine") < 7
    assert found.at["multi", "n"] == 5


def used(gaps: dict[str, float], *places: tuple[str, str, str, str]) -> tuple[str, ...]:
    return answered(against_cart.answer, make_runs(against(gaps, *places))).sentences


def test_nested_tuning_is_the_primary_comparison_where_it_ran():
    published = ("clean", "tuned", "gradtree", "cart")
    own = ("clean", "nested", "gradtree-nested", "cart-nested")
    sentences = used({"binary": 0.0, "multi": -0.05}, published, own)
    assert sentences[0].startswith("No, take CART, which is better on multi-class data: both tuned")
    assert "on 22 binary datasets (p = 1.000)" in sentences[0]
    assert sentences[1].startswith("On one more dataset like these expect between ")
    runs = make_runs(against({"binary": 0.02, "multi": 0.0}, own))
    lines = against_cart.primary(runs)
    assert lines["holm"].tolist() == pytest.approx([2 * lines["p"][0], lines["p"][1]])
    assert against_cart.verdict(lines) == "Yes, on binary data"
    answer = answered(against_cart.answer, runs)
    names = ["nested-primary", "use-summary", "use", "nested"]
    assert [table.name for table in answer.tables] == names


def test_without_nested_runs_there_are_no_such_tables():
    runs = make_runs(against({"binary": 0.0, "multi": 0.0}, ("clean", "tuned", "gradtree", "cart")))
    answer = answered(against_cart.answer, runs)
    assert not [each.name for each in answer.tables if each.name.startswith("nested")]
    assert against_cart.answer(make_runs({}), PAPER) is None


def ablation(noise_free: float | None) -> Runs:
    cells = {}
    for setting in ("tuned", "default"):
        for at, slug in enumerate(TASK):
            own = 0.7 + 0.001 * (at % 3)
            cells["paper", f"ablation-{setting}", slug, "gradtree"] = [own] * 10
            cells["paper", f"ablation-{setting}", slug, "gradtree-gumbel"] = [0.4] * 10
            cells["paper", f"ablation-{setting}", slug, "gradtree-annealed"] = [own - 0.02] * 10
            if noise_free is not None:
                place = ("paper", f"ablation-{setting}", slug, "gradtree-gumbel-noise-free")
                cells[place] = [own - noise_free] * 10
    return make_runs(cells)


@pytest.mark.parametrize(("lead", "word"), [(0.03, "Yes"), (-0.03, "No")])
def test_selectors_are_judged_without_the_noise(lead, word):
    answer = answered(variants.feature_selection, ablation(lead))
    assert answer.sentences[0].startswith(f"{word}: ")
    table = answer.tables[0].frame
    assert len(table) == 2 * 2 * 3
    assert table["difference"].iloc[-1] == pytest.approx(lead)
    assert table["ST Gumbel softmax"].iloc[0] == pytest.approx(0.4)


def test_one_way_of_predicting_alone_compares_nothing():
    assert variants.feature_selection(ablation(None), PAPER) is None


BASE = {"gradtree": 0.70, "dndt": 0.50, "genetictree": 0.60, "dl85": 0.62, "cart": 0.68}


@pytest.fixture
def replaced() -> Runs:
    """Plain means lift CART by 0.05, touch two datasets not at all, and harm nobody."""
    cells = {}
    for slug in MULTI:
        for method, score in BASE.items():
            cells["paper", "default", slug, method] = [score] * 10
            lift = 0.05 if method == "cart" and slug not in ("iris", "wine") else 0.0
            cells["paper-plain-means", "quirks", slug, method] = [score + lift] * 10
        cells["paper-training-bins", "quirks", slug, "dl85"] = [BASE["dl85"] + 0.2] * 10
    return make_runs(cells)


def test_a_quirk_can_change_the_order(replaced):
    answer = answered(protocols.quirks, replaced)
    order = answer.tables[1].frame
    before, after = order.iloc[0], order.iloc[1]
    assert (before["MRR: GradTree"], after["MRR: CART"]) == (1.0, 1.0)
    assert before["GradTree minus CART: difference"] == pytest.approx(0.02)
    assert after["GradTree minus CART: difference"] == pytest.approx(-0.03)
    assert "from GradTree to CART" in answer.sentences[-1]


def test_a_learner_that_lost_its_result_unsettles_the_order(replaced):
    rows = replaced.frame
    gone = (rows["protocol"] == "paper-plain-means") & (rows["method"] == "dndt")
    gone &= (rows["dataset"] == "car") & (rows["trial"] == 0)
    rows.loc[gone, ["status", "test_f1"]] = ["", math.nan]
    order = protocols.orders(replaced, PAPER)
    assert order["datasets"].iloc[0] == 11
