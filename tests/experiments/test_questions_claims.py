"""The paper's sentences on the paper's own numbers, on ours, and on too few of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest
from analysis_support import paper_as_ours

from experiments.analysis import checks
from experiments.analysis.claims import (
    Claim,
    Evidence,
    Finding,
    Sentence,
    check,
    check_claims,
    claims_frame,
    sentences,
)
from experiments.analysis.printed import printed
from experiments.analysis.questions import conclusions
from experiments.analysis.runs import Runs, load

PAPER = printed()


@pytest.fixture(scope="module")
def as_printed() -> Runs:
    return paper_as_ours()


@pytest.fixture(scope="module")
def claims(as_printed: Runs) -> dict[str, Claim]:
    return {each.sentence.slug: each for each in check_claims(as_printed, PAPER)}


def test_every_sentence_that_the_printed_cells_can_tell_holds_in_the_paper(
    claims: dict[str, Claim],
) -> None:
    untold = {slug for slug, each in claims.items() if each.in_paper == "cannot be told"}
    assert untold == {"figure-1", "runtime-features", "penalty-wins", "dl85-depth", "losses"}
    assert {each.in_paper for slug, each in claims.items() if slug not in untold} == {"holds"}


def test_with_the_papers_own_cells_everything_is_kept_in_full(claims: dict[str, Claim]) -> None:
    told = [each for each in claims.values() if each.outcome != "cannot be told"]
    assert len(told) > 25
    alike = {"default-binary", "default-wins"}  # means that only print alike are tied here
    assert {each.grade for each in told if each.sentence.slug not in alike} == {"in full"}
    assert claims["binary-mrr"].paper.effect == pytest.approx(0.758 - 0.556, abs=1e-3)
    assert claims["binary-size"].kept == pytest.approx(1.0)


def changed(runs: Runs, method: str, table: str, value: float, task: str = "binary") -> Runs:
    """A method's F1 set to a value on the datasets of a task."""
    slugs = PAPER.datasets.index[PAPER.datasets["task"] == task]
    frame = runs.frame.copy()
    own = (frame["experiment"] == table) & (frame["method"] == method)
    frame.loc[own & frame["dataset"].isin(slugs), "test_f1"] = value
    return replace(runs, frame=frame)


def outcome(slug: str, runs: Runs) -> tuple[str, Finding]:
    sentence = next(each for each in sentences() if each.slug == slug)
    return check(sentence, Evidence(PAPER, runs, names=runs.name))


@pytest.mark.parametrize(
    "slug",
    [
        "binary-mrr",
        "binary-mrd",
        "binary-wins",
        "binary-13-wins",
        "binary-non-greedy",
        "echocardiogram",
    ],
)
def test_claims_of_a_lead_fail_without_it(as_printed: Runs, slug: str) -> None:
    worse = changed(as_printed, "gradtree", "tuned", 0.01)
    told, found = outcome(slug, worse)
    assert told == "does not hold"
    assert found.effect < {"binary-13-wins": 13}.get(slug, 0.01)
    assert outcome(slug, as_printed)[0] == "holds"


def test_a_tie_is_no_lead() -> None:
    assert checks.lead({"gradtree": 0.5, "cart": 0.5}) == 0
    assert checks.lead({"cart": 0.5}) < 0
    assert checks.lead({"gradtree": 1.0, "cart": 3.0}, smaller=True) == 2.0


def test_an_effect_in_part_is_graded_so(as_printed: Runs) -> None:
    sentence = Sentence("s", "S.", "Table 1", "leads")
    half = Finding(True, "", 0.05)
    claim = Claim(sentence, "holds", half, "holds", Finding(True, "", 0.1), "holds", half, "")
    assert (claim.kept, claim.grade) == (0.5, "in part")
    assert replace(claim, ours=Finding(False, "", -0.01)).grade == "not"
    assert replace(claim, ours=Finding(True, "", 0.09)).grade == "in full"
    unmeasured = replace(claim, ours=Finding(True, ""), outcome="does not hold")
    assert unmeasured.grade == "not"


def test_fewer_than_ten_trials_judge_no_claim(as_printed: Runs) -> None:
    nine = replace(as_printed, frame=as_printed.frame[as_printed.frame["trial"] < 9])
    found = check_claims(nine, PAPER)
    judged = {each.sentence.slug for each in found if each.outcome != "cannot be told"}
    assert not judged
    assert any("from 9 trials upwards" in each.ours.numbers for each in found)
    only = nine.frame["dataset"] == "iris"
    assert conclusions.answer(replace(nine, frame=nine.frame[only]), PAPER) is None


def test_an_incomplete_table_says_how_much_of_it_has_run(as_printed: Runs) -> None:
    frame = as_printed.frame
    frame = frame[(frame["dataset"] != "titanic") | (frame["method"] != "dndt")]
    told, found = outcome("binary-mrr", replace(as_printed, frame=frame))
    assert told == "cannot be told"
    assert found.numbers == "Test F1, tuned hyperparameters: 21 of 22 binary datasets have run"
    assert outcome("multi-second", replace(as_printed, frame=frame))[0] == "holds"


def test_seeds_count_the_draws_for_which_a_sentence_is_true(as_printed: Runs) -> None:
    own = as_printed.of("paper", "tuned")
    own = own[own["method"] == "gradtree"]
    same = own.assign(experiment="seeds", seed=1, key="same" + own["key"])
    low = own.assign(experiment="seeds", seed=2, key="low" + own["key"], test_f1=0.01)
    cut = low[low["trial"] < 5].assign(seed=3, status="")
    frame = pd.concat([as_printed.frame, same, low, cut], ignore_index=True)
    runs = replace(as_printed, frame=frame)
    found = {each.sentence.slug: each.seeds for each in check_claims(runs, PAPER)}
    assert found["binary-mrr"] == "2 of 3"  # the authors', the same again, and none
    assert found["binary-size"] == "3 of 3"
    assert found["default-binary"] == found["runtime-mean"] == ""


def test_gumbel_without_noise_decides_what_the_sentence_says(as_printed: Runs) -> None:
    rows = as_printed.of("paper", "ablation-tuned")
    own = rows[rows["method"] == "gradtree"]
    level = own.assign(method="gradtree-gumbel-noise-free", key="free" + own["key"])
    runs = replace(as_printed, frame=pd.concat([as_printed.frame, level], ignore_index=True))
    told, found = outcome("ablation-tuned-binary", runs)
    assert told == "holds as printed only"
    assert found.effect == 0
    assert "by +0.000 [+0.000, +0.000]" in found.numbers


def test_the_file_of_claims_has_a_line_per_sentence(claims: dict[str, Claim]) -> None:
    frame = claims_frame(list(claims.values()))
    assert frame["claim"].is_unique
    assert len(frame) == len(sentences()) == 41
    assert list(frame.columns[:8]) == [
        *("claim", "sentence", "where", "outcome", "ours", "in_paper", "paper", "note")
    ]


@pytest.mark.slow
def test_the_committed_runs_judge_as_they_did() -> None:
    """The outcomes of the 26 sentences that were checked before, under both protocols."""
    found = {each.sentence.slug: each for each in check_claims(load(), PAPER)}
    held = [slug for slug, each in found.items() if each.outcome == "holds"]
    assert found["binary-mrr"].seeds == "10 of 11"
    assert found["binary-wins"].outcome == found["runtime-cart"].outcome == "does not hold"
    assert found["ablation-default-binary"].outcome == "holds as printed only"
    assert {"binary-mrr", "echocardiogram", "penalty-f1", "dl85-splice"} <= set(held)
    assert json.dumps([each.grade for each in found.values()]).count("cannot be told") == 3
