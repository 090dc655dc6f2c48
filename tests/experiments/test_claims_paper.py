"""Claims: true of the paper's own tables, turned by exchanged columns, open without records."""

from __future__ import annotations

import pytest
from tables_support import paper_as_ours, runs

from experiments.analysis.claims import SENTENCES
from experiments.analysis.findings import findings_of
from experiments.analysis.paper import load_paper
from experiments.render.wording import claim_lines

PAPER = load_paper()


def _outcomes(found) -> dict[str, str]:
    return {claim.slug: claim.outcome for claim in found.claims}


def _exchanged(first: str, second: str, ablation: bool = False):
    """Findings after the numbers of two methods have changed places."""
    other = {first: second, second: first}

    def rename(table: str, method: str) -> str:
        is_ablation = table.startswith("ablation")
        return other.get(method, method) if is_ablation == ablation else method

    return _outcomes(findings_of(*paper_as_ours(PAPER, rename), paper=PAPER))


@pytest.fixture(scope="module")
def as_printed():
    return findings_of(*paper_as_ours(PAPER), paper=PAPER)


def test_every_claim_holds_for_the_papers_own_numbers(as_printed):
    assert set(_outcomes(as_printed).values()) == {"holds"}
    assert all(claim.in_paper == "holds" for claim in as_printed.claims)


def test_our_numbers_and_the_papers_are_told_alike(as_printed):
    """But for a table whose printed means are rounded otherwise than its cells give."""
    differing = [claim.slug for claim in as_printed.claims if claim.ours != claim.paper]
    assert differing == ["penalty-f1"]


def test_claims_have_names_sentences_and_places():
    slugs = [sentence.slug for sentence in SENTENCES]
    assert len(set(slugs)) == len(slugs) == 26
    for sentence in SENTENCES:
        assert sentence.sentence.endswith(".")
        assert sentence.where


def test_exchanging_gradtree_and_cart_turns_what_is_said_of_them():
    turned = _exchanged("gradtree", "cart")
    for slug in (
        *("binary-mrr", "binary-mrd", "binary-wins", "multi-second", "multi-wins"),
        *("echocardiogram", "default-binary", "default-multi"),
        *("binary-size", "multi-size", "binary-gap", "multi-gap"),
        "runtime-cart",
    ):
        assert turned[slug] == "does not hold", slug
    assert turned["ablation-tuned-binary"] == "holds"
    assert turned["dl85-splice"] == "holds"


def test_exchanging_gradtree_and_genetictree_turns_the_rest():
    turned = _exchanged("gradtree", "genetictree")
    for slug in ("binary-non-greedy", "multi-non-greedy", "default-strong"):
        assert turned[slug] == "does not hold", slug
    for slug in ("size-extremes", "penalty-f1"):
        assert turned[slug] == "does not hold", slug


def test_exchanging_the_selectors_turns_the_ablation():
    turned = _exchanged("gradtree", "gradtree-annealed", ablation=True)
    for setting in ("default", "tuned"):
        for task in ("binary", "multi"):
            assert turned[f"ablation-{setting}-{task}"] == "does not hold"
    assert turned["binary-mrr"] == "holds"


def test_exchanging_gradtree_and_dl85_turns_the_runtime():
    turned = _exchanged("gradtree", "dl85")
    assert turned["runtime-large"] == "does not hold"
    assert turned["runtime-mean"] == "does not hold"


def test_nothing_can_be_told_without_records():
    found = findings_of([], {}, paper=PAPER)
    assert set(_outcomes(found).values()) == {"cannot be told"}
    by_slug = {claim.slug: claim for claim in found.claims}
    assert "0 of 22 binary datasets have run" in by_slug["binary-mrr"].ours


def test_one_missing_cell_leaves_a_claim_open():
    jobs, records = paper_as_ours(PAPER)
    gone = {
        job.key
        for job in jobs
        if (job.experiment, job.dataset, job.method) == ("tuned", "adult", "cart")
    }
    kept = {key: record for key, record in records.items() if key not in gone}
    outcomes = _outcomes(findings_of(jobs, kept, paper=PAPER))
    assert outcomes["binary-mrr"] == "cannot be told"
    assert outcomes["multi-second"] == "holds"


def test_a_crash_leaves_a_claim_open_but_a_timeout_after_an_hour_does_not():
    jobs, records = paper_as_ours(PAPER)
    for status, extra, outcome in (
        ("crash", {}, "cannot be told"),
        ("timeout", {}, "holds"),
        ("timeout", {"limit": 60.0}, "cannot be told"),
    ):
        changed = dict(records)
        for job in jobs:
            if (job.experiment, job.dataset, job.method) == ("tuned", "landsat", "dl85"):
                record = records[job.key]
                changed[job.key] = type(record).of(job, status, extra=extra)
        found = findings_of(jobs, changed, paper=PAPER)
        assert _outcomes(found)["multi-second"] == outcome


def test_fewer_trials_are_mentioned():
    jobs, records = paper_as_ours(PAPER)
    kept = {job.key: records[job.key] for job in jobs if job.trial < 4}
    found = findings_of(jobs, kept, paper=PAPER)
    claim = next(claim for claim in found.claims if claim.slug == "binary-mrr")
    assert claim.outcome == "holds"
    assert claim.ours.endswith("(cells from 4 trials upwards)")
    assert claim.ours.startswith(claim.paper)


def test_a_tie_is_no_lead():
    jobs, records = [], {}
    for method in ("gradtree", "gradtree-gumbel", "gradtree-annealed"):
        for dataset in PAPER.of_task("multi"):
            more_jobs, more = runs("ablation-tuned", dataset.slug, method, [0.5] * 10)
            jobs += more_jobs
            records |= more
    outcomes = _outcomes(findings_of(jobs, records, paper=PAPER))
    assert outcomes["ablation-tuned-multi"] == "does not hold"


def test_lines_name_what_does_not_hold(as_printed):
    assert claim_lines(as_printed.claims) == [
        "Claims of the paper (26): 26 hold, 0 do not hold, 0 cannot be told"
    ]
    full = claim_lines(as_printed.claims, in_full=True)
    assert sum("GradTree has the best mean reciprocal rank" in line for line in full) == 1
