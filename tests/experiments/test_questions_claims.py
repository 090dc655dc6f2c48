"""The paper's sentences on the paper's own numbers, on ours, and on too few of them."""

import math
from dataclasses import replace

import pandas as pd
import pytest
from analysis_support import paper_as_ours

from experiments.analysis.claims import Evidence, Finding, lead
from experiments.analysis.printed import printed
from experiments.analysis.questions import conclusions
from experiments.analysis.questions.conclusions import check, check_claims, grade, sentences
from experiments.analysis.runs import Runs

PAPER = printed()
BINARY = list(PAPER.datasets.query("task == 'binary'").index)


@pytest.fixture(scope="module")
def as_printed() -> Runs:
    return paper_as_ours()


@pytest.fixture(scope="module")
def claims(as_printed: Runs) -> pd.DataFrame:
    return check_claims(as_printed, PAPER).set_index("claim")


def test_every_sentence_that_the_printed_cells_can_tell_holds_in_the_paper(claims):
    untold = claims["in_paper"] == "cannot be told"
    assert set(claims.index[untold]) == {
        *("figure-1", "runtime-features", "penalty-wins", "dl85-depth", "losses")
    }
    assert set(claims["in_paper"][~untold]) == {"holds"}


def test_with_the_papers_own_cells_everything_is_kept_in_full(claims):
    told = claims[claims["outcome"] != "cannot be told"]
    assert len(told) > 25
    alike = ["default-binary", "default-wins"]  # means that only print alike are tied here
    assert set(told.drop(alike)["grade"]) == {"in full"}
    assert claims.at["binary-mrr", "printed_effect"] == pytest.approx(0.758 - 0.556, abs=1e-3)
    assert claims.at["binary-size", "kept"] == pytest.approx(1.0)


def altered(runs: Runs, which: str, **columns: object) -> Runs:
    """The runs that a query finds, with another outcome."""
    frame = runs.frame.copy()
    frame.loc[frame.query(which).index, list(columns)] = list(columns.values())
    return replace(runs, frame=frame)


def outcome(slug: str, runs: Runs) -> tuple[str, Finding]:
    sentence = next(each for each in sentences() if each["slug"] == slug)
    return check(sentence, Evidence(PAPER, runs, names=runs.name))


@pytest.mark.parametrize(
    "slug",
    [
        *("binary-mrr", "binary-mrd", "binary-wins", "binary-13-wins"),
        *("binary-non-greedy", "echocardiogram"),
    ],
)
def test_claims_of_a_lead_fail_without_it(as_printed, slug):
    of_gradtree = "experiment == 'tuned' and method == 'gradtree' and dataset in @BINARY"
    worse = altered(as_printed, of_gradtree, test_f1=0.01)
    told, found = outcome(slug, worse)
    assert told == "does not hold"
    assert found.effect < {"binary-13-wins": 13}.get(slug, 0.01)
    assert outcome(slug, as_printed)[0] == "holds"


def test_a_tie_is_no_lead():
    assert lead({"gradtree": 0.5, "cart": 0.5}) == 0
    assert lead({"cart": 0.5}) < 0
    assert lead({"gradtree": 1.0, "cart": 3.0}, smaller=True) == 2.0


@pytest.mark.parametrize(
    ("outcome", "kept", "expected"),
    [
        ("holds", 0.5, "in part"),
        ("does not hold", -0.1, "not"),
        ("holds", 0.9, "in full"),
        ("does not hold", math.nan, "not"),
        ("holds as printed only", math.nan, "in part"),
        ("cannot be told", 0.9, "cannot be told"),
    ],
)
def test_a_claim_is_graded_by_what_is_kept(outcome, kept, expected):
    assert grade(outcome, kept) == expected


def test_fewer_than_ten_trials_judge_no_claim(as_printed):
    nine = replace(as_printed, frame=as_printed.frame[as_printed.frame["trial"] < 9])
    found = check_claims(nine, PAPER)
    assert set(found["outcome"]) == {"cannot be told"}
    assert found["ours"].str.contains("from 9 trials upwards").any()
    only = nine.frame["dataset"] == "iris"
    assert conclusions.answer(replace(nine, frame=nine.frame[only]), PAPER) is None


def test_an_incomplete_table_says_how_much_of_it_has_run(as_printed):
    frame = as_printed.frame
    frame = frame[(frame["dataset"] != "titanic") | (frame["method"] != "dndt")]
    told, found = outcome("binary-mrr", replace(as_printed, frame=frame))
    assert told == "cannot be told"
    told = "21 of 22 binary datasets have every cell the paper has"
    assert found.numbers == f"Test F1, tuned hyperparameters: {told}"
    assert outcome("multi-second", replace(as_printed, frame=frame))[0] == "holds"


def test_a_dataset_too_wide_for_a_learner_leaves_no_claim_open(as_printed):
    of_dndt, skipped = "dataset == 'titanic' and method == 'dndt'", {"status": "skipped"}
    runs = altered(as_printed, of_dndt, **skipped, reason="n>12", test_f1=math.nan)
    assert outcome("binary-mrr", runs)[0] == "holds"


def test_dl85_counts_with_its_own_seconds_where_only_the_papers_hit_the_limit(as_printed):
    of_dl85 = "dataset == 'splice' and method == 'dl85'"
    quick = altered(as_printed, of_dl85, status="ok", reason="", wall_seconds=1.0)
    limited, own = (outcome("runtime-large", runs)[1].effect for runs in (as_printed, quick))
    assert own < limited - 0.05


def test_seeds_count_the_draws_for_which_a_sentence_is_true(as_printed):
    own = as_printed.of("paper", "tuned")
    own = own[own["method"] == "gradtree"]
    same = own.assign(experiment="seeds", seed=1, key="same" + own["key"])
    low = own.assign(experiment="seeds", seed=2, key="low" + own["key"], test_f1=0.01)
    cut = low[low["trial"] < 5].assign(seed=3, status="")
    frame = pd.concat([as_printed.frame, same, low, cut], ignore_index=True)
    runs = replace(as_printed, frame=frame)
    found = check_claims(runs, PAPER).set_index("claim")["seeds"]
    assert found["binary-mrr"] == "2 of 3"  # the authors', the same again, and none
    assert found["binary-size"] == "3 of 3"
    assert found["default-binary"] == found["runtime-mean"] == ""


def test_gumbel_without_noise_decides_what_the_sentence_says(as_printed):
    rows = as_printed.of("paper", "ablation-tuned")
    own = rows[rows["method"] == "gradtree"]
    level = own.assign(method="gradtree-gumbel-noise-free", key="free" + own["key"])
    runs = replace(as_printed, frame=pd.concat([as_printed.frame, level], ignore_index=True))
    told, found = outcome("ablation-tuned-binary", runs)
    assert told == "holds as printed only"
    assert found.effect == 0
    assert "by +0.000 [+0.000, +0.000]" in found.numbers


def test_runs_that_are_only_planned_are_no_evidence(as_printed):
    rows = as_printed.of("paper", "tuned")
    own = rows[rows["method"] == "genetictree"]
    planned = own.assign(experiment="no-penalty", method="genetictree-no-penalty", status="")
    planned = planned.assign(key="without" + own["key"], test_f1=math.nan, tree_size=math.nan)
    runs = replace(as_printed, frame=pd.concat([as_printed.frame, planned], ignore_index=True))
    for slug in ("penalty-wins", "penalty-f1", "penalty-size"):
        told, found = outcome(slug, runs)
        assert told == "cannot be told"
        assert "0 of 22 binary datasets have run" in found.numbers
