"""What each quirk does, and which cells are fragile, on invented stores."""

from __future__ import annotations

import pytest
from report_samples import registry
from tables_support import Records, job, paper_as_ours, runs

import datasets.protocols.quirks as declared
from experiments.analysis.findings import Findings, findings_of
from experiments.analysis.grids import collect
from experiments.analysis.paper import load_paper
from experiments.analysis.quirks import (
    EXPERIMENT,
    METHODS,
    VARIANTS,
    quirk_effects,
    quirk_orders,
    touched,
)
from experiments.analysis.sensitivity import REFITS, firmness
from experiments.core.job import Job
from experiments.core.record import RunRecord
from experiments.render.files import files_of
from experiments.render.report.collect import Inputs, assemble, draw
from experiments.render.report.comparisons import quirks_section
from experiments.render.report.page import render
from experiments.render.report.sections import firmness_section

PAPER = load_paper()
Store = tuple[list[Job], Records]
PLAIN, BINS = "paper-plain-means", "paper-training-bins"
VARIANT = {variant.protocol: variant for variant in VARIANTS}
MULTI = [dataset.slug for dataset in PAPER.of_task("multi")]
BASE = {"gradtree": 0.70, "dndt": 0.50, "genetictree": 0.60, "dl85": 0.62, "cart": 0.68}
UNTOUCHED = ("iris", "wine")


def _add(store: Store, *place: str, values: list[float]) -> None:
    protocol, experiment, dataset, method = place
    jobs, records = runs(experiment, dataset, method, values, protocol=protocol)
    store[0].extend(jobs)
    store[1].update(records)


@pytest.fixture
def store() -> Store:
    """Plain means lift CART by 0.05, touch two datasets not at all, and harm nobody."""
    made: Store = ([], {})
    for slug in MULTI:
        for method, score in BASE.items():
            _add(made, "paper", "default", slug, method, values=[score] * 10)
            lift = 0.05 if method == "cart" and slug not in UNTOUCHED else 0.0
            _add(made, PLAIN, EXPERIMENT, slug, method, values=[score + lift] * 10)
        _add(made, BINS, EXPERIMENT, slug, "dl85", values=[BASE["dl85"] + 0.2] * 10)
    return made


def test_the_variants_are_those_that_the_datasets_declare():
    assert {variant.protocol for variant in VARIANTS} == set(declared.VARIANTS)
    by_quirk: dict[str, set[str]] = {}
    for variant in VARIANTS:
        by_quirk.setdefault(declared.VARIANTS[variant.protocol].quirk, set()).add(variant.quirk)
    assert set(by_quirk) == set(declared.QUIRKS)
    assert all(len(names) == 1 for names in by_quirk.values())


def test_datasets_that_a_quirk_does_not_touch_do_not_enter(store):
    found = touched(collect(*store), PAPER, VARIANT[PLAIN])
    assert found == [slug for slug in MULTI if slug not in UNTOUCHED]


def test_a_known_effect_is_found_and_no_other(store):
    found = {
        (each.variant.protocol, each.method): each.contrast
        for each in quirk_effects(collect(*store), PAPER)
    }
    assert set(found) == {*((PLAIN, method) for method in METHODS), (BINS, "dl85")}
    cart = found[PLAIN, "cart"]
    assert (cart.n, cart.wins, cart.losses) == (12, 12, 0)
    assert cart.difference.estimate == pytest.approx(0.05)
    assert cart.significant
    for method in ("gradtree", "dndt", "genetictree", "dl85"):
        assert found[PLAIN, method].difference.estimate == 0
        assert not found[PLAIN, method].significant
    assert found[BINS, "dl85"].difference.estimate == pytest.approx(0.2)
    assert found[BINS, "dl85"].n == 14


def test_a_quirk_can_change_the_order(store):
    plain, bins = quirk_orders(collect(*store), PAPER)
    assert (plain.order.before[0][0], plain.order.after[0][0]) == ("gradtree", "cart")
    assert plain.order.datasets == 12
    assert plain.before.difference.estimate == pytest.approx(0.02)
    assert plain.after.difference.estimate == pytest.approx(-0.03)
    assert bins.variant.only == ("dl85",)
    assert bins.order.after[0][0] == "dl85"
    assert bins.before.difference == bins.after.difference


def test_a_learner_that_has_not_been_run_gives_no_order(store):
    jobs, records = store
    some = [j for j in jobs if (j.protocol, j.method) != (PLAIN, "cart")]
    results = collect(some, records)
    assert touched(results, PAPER, VARIANT[PLAIN]) == []
    assert [each.variant.protocol for each in quirk_orders(results, PAPER)] == [BINS]


def test_partial_cells_do_not_enter(store):
    jobs, records = store
    missing = next(j for j in jobs if (j.protocol, j.dataset, j.method) == (PLAIN, "car", "cart"))
    del records[missing.key]
    found = quirk_effects(collect(jobs, records), PAPER)
    counts = {each.method: each.contrast.n for each in found if each.variant.protocol == PLAIN}
    assert counts["cart"] == 11
    assert counts["gradtree"] == 12


def _page(found: Findings) -> str:
    inputs = Inputs(findings=found, records=(), registry=registry())
    return render(assemble(inputs, [p for p in draw(inputs) if p.name == "quirks"]))


def test_the_report_and_the_tables_tell_it(store):
    found = findings_of(*store, paper=PAPER)
    (section,) = quirks_section(found)
    assert section.points[0] == (
        "Leave-one-out means of categories replaced (plain means): moves CART +0.050 "
        "[+0.050, +0.050] (12 datasets)."
    )
    assert any("the lead passes from GradTree to CART (12 datasets)" in p for p in section.points)
    files = files_of(found)
    assert files["quirks.csv"].count("\n") == 1 + 6
    assert files["quirks-order.csv"].count("\n") == 1 + 4
    assert "Leave-one-out" not in files["quirks.tex"]
    assert (
        "leave-one-out means of categories & plain means & CART & 12 & +0.050"
        in (files["quirks.tex"])
    )
    page = _page(found)
    assert 'id="quirks"' in page
    assert "Change of mean test macro F1 without the quirk" in page


def test_without_records_the_section_says_so():
    (section,) = quirks_section(findings_of([], {}, paper=PAPER))
    assert section.paragraphs[-1].startswith("No protocol that replaces a quirk has been run")
    assert section.sheets == ()
    assert section.figures == ()


# Firm and fragile ----------------------------------------------------------------------


def _refits(fits: Store, moved: dict[tuple[str, int], float], refits: int = REFITS) -> Records:
    """Refits of tuned GradTree; those of the given trials end elsewhere in the last one."""
    made: Records = {}
    for fit in fits[0]:
        if (fit.experiment, fit.method) != ("tuned", "gradtree"):
            continue
        score = fits[1][fit.key].test_f1 or 0.0
        for at in range(1, refits + 1):
            params = Job.freeze({**fit.params, "perturbation": at})
            refit = Job(**{**fit.to_dict(), "experiment": "firmness", "params_json": params})
            move = moved.get((fit.dataset, fit.trial), 0.0) if at == refits else 0.0
            made[refit.key] = RunRecord.of(refit, "ok", test_f1=score - move)
    return made


@pytest.fixture(scope="module")
def tuned() -> Store:
    jobs, records = paper_as_ours(PAPER)
    own = [j for j in jobs if (j.experiment, j.method) == ("tuned", "gradtree")]
    return own, {j.key: records[j.key] for j in own}


def test_a_trial_is_firm_if_no_refit_moves_it(tuned):
    refits = _refits(tuned, {("iris", 3): 0.02, ("iris", 7): 1e-12, ("zoo", 0): 0.1})
    found = {each.dataset: each for each in firmness(collect(*tuned), refits.values(), PAPER)}
    assert len(found) == 36
    assert (found["iris"].trials, found["iris"].firm, found["iris"].fragile) == (10, 8, True)
    assert found["iris"].largest_move == pytest.approx(0.02)
    assert (found["zoo"].firm, found["wine"].firm, found["wine"].fragile) == (9, 10, False)


def test_too_few_refits_and_other_versions_tell_nothing(tuned):
    results = collect(*tuned)
    few = _refits(tuned, {}, REFITS - 1)
    assert firmness(results, few.values(), PAPER) == []
    other = job("tuned", "iris", "gradtree", 0, method_version="0")
    old = RunRecord.of(other, "ok", test_f1=0.9)
    made = _refits(([other], {other.key: old}), {})
    assert firmness(results, made.values(), PAPER) == []


def test_fragile_cells_are_marked_everywhere(tuned):
    refits = _refits(tuned, {("iris", 3): 0.02})
    found = findings_of(tuned[0], tuned[1] | refits, paper=PAPER)
    table = found.table_sets["paper"].tables["test-f1-tuned"]
    assert table.cell("iris", "gradtree").fragile
    assert not table.cell("wine", "gradtree").fragile
    files = files_of(found)
    assert files["paper/test-f1-tuned.csv"].splitlines()[0].endswith("firm_trials,refitted_trials")
    assert "multi,iris,gradtree," in files["paper/test-f1-tuned.csv"]
    assert files["paper/test-f1-tuned-multi.tex"].count(r"$^{\dagger}$") == 1
    assert "dagger" not in files["paper/test-f1-tuned-binary.tex"]
    assert "fragile" in files["paper/firmness.csv"]
    (section,) = firmness_section(found)
    assert section.points == (
        "Of 360 tuned GradTree trials, fitted anew 5 times each with training rows moved by about "
        "one unit of float32, 359 keep their test F1 in every refit; 35 of 36 cells are firm in "
        "all their trials.",
        "Fragile (firm trials): Iris 9/10.",
    )
    page = render(assemble(Inputs(findings=found, records=(), registry=registry()), []))
    assert page.count("<em>†</em>") == 1
    assert "†: a rounding error in the training rows changes a trial of the cell." in page
    assert 'id="firmness"' in page


def test_without_refits_nothing_is_marked(tuned):
    found = findings_of(*tuned, paper=PAPER)
    assert firmness_section(found) == ()
    assert "firm_trials" not in files_of(found)["paper/test-f1-tuned.csv"]
