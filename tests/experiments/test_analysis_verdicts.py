"""Verdicts on printed numbers: exact, equivalent, undecided, better, worse; another paper's too."""

import math
import re
import runpy

import numpy as np
import pandas as pd
import pytest
from analysis_support import answered, make_runs, paper_as_ours, trials
from scipy import stats

from experiments.analysis import verdicts as v
from experiments.analysis.answer import Declared
from experiments.analysis.printed import printed
from experiments.analysis.questions import answers, own_answer, reproduces
from experiments.analysis.runs import load
from experiments.errors import UserError
from experiments.output.readme import REPOSITORY

PAPER = printed()


def rules(metric="test_f1", decimals=3, **more):
    given = {"name": "t", "title": "T", "experiment": "tuned", "decimals": decimals}
    return Declared(metric=metric, **given, **more)


F1, SIZE, FINE = rules(), rules("tree_size", 2), rules(decimals=12)


def judged(ours, theirs, table=F1, *more):
    """The verdict on one cell; sides are (mean, std, n) or a reason."""

    def side(given):
        if isinstance(given, str):
            return {"mean": math.nan, "std": math.nan, "n": 0, "missing": given}
        mean, std, n = (*given, 10)[:3]
        return {"mean": mean, "std": std, "n": n, "missing": ""}

    place = {"dataset": "iris", "method": "cart"}
    mine = pd.DataFrame([{"task": "multi", **place, **side(ours), "expected": 10}])
    return v.judge(mine, pd.DataFrame([{**place, **side(theirs)}]), table, *more).iloc[0]


def outcome(*given):
    return judged(*given)["outcome"]


def test_exact_needs_mean_deviation_and_all_trials():
    assert outcome((0.938, 0.01), (0.938, 0.01)) == "exact"
    assert outcome((0.938, 0.2), (0.938, 0.01)) != "exact"
    few = judged((0.938, 0.1, 4), (0.938, 0.1))
    assert (few["outcome"], few["note"]) == ("undecided", "4 of 10 trials")


@pytest.mark.parametrize("nudge", [-0.0005, -0.00049, 0.0005])
def test_what_rounds_to_the_printed_digits_is_exact(nudge):
    assert outcome((0.8 + nudge, 0.007), (0.8, 0.007)) == "exact"
    assert outcome((0.8 + 3 * nudge, 0.007), (0.8, 0.007)) == "equivalent"


@pytest.mark.parametrize(
    ("std", "expected"), [(1.8649, "exact"), (1.8644, "undecided"), (1.8751, "exact")]
)
def test_sizes_were_rounded_to_three_decimals_before_two(std, expected):
    assert outcome((10.0, std), (10.0, 1.87), SIZE) == expected


@pytest.mark.parametrize(
    ("shift", "expected"), [(0.2, "better"), (-0.2, "worse"), (0.02, "undecided")]
)
def test_a_significant_difference_has_a_direction(shift, expected):
    found = judged((0.7 + shift, 0.05), (0.7, 0.05))
    assert found["outcome"] == expected
    assert found["difference"] == pytest.approx(shift)
    assert outcome((20.0, 1.0), (40.0, 1.0), SIZE) == "better"


def test_where_one_side_has_no_number_the_note_says_why():
    assert judged("", (0.9, 0.1))["note"] == "not run"
    crashed = judged("crash", (0.9, 0.1))
    assert (crashed["outcome"], crashed["note"]) == ("missing", "crash")
    both = judged("n>12", "n>12")
    assert (both["outcome"], both["note"]) == ("exact", "both n>12")
    ours = judged((0.9, 0.1), ">60 min")
    assert (ours["outcome"], ours["note"]) == ("missing", "the paper prints >60 min")
    misprint = {("iris", "cart"): ">60 min"}
    for reason, expected in ((">60 min", "exact"), ("n>12", "exact"), ("crash", "missing")):
        assert outcome(reason, "n>12", F1, misprint) == expected


def cells(n=10, **columns):
    given = {"ours_mean": 0.62, "ours_std": 0.05, "ours_n": n, "paper_mean": 0.7}
    frame = pd.DataFrame([{**given, "paper_std": 0.03, "paper_n": 10, **columns}])
    return frame.assign(difference=frame["ours_mean"] - frame["paper_mean"])


@pytest.mark.parametrize("n", [10, 20])
def test_welch_is_scipys_but_for_the_rounding_of_the_printed_figures(n):
    reference = stats.ttest_ind_from_stats(
        *(0.62, 0.05 * np.sqrt(n / (n - 1)), n), *(0.7, 0.03 * np.sqrt(10 / 9), 10), equal_var=False
    ).pvalue
    assert v.welch(cells(n), FINE)[0] == pytest.approx(reference)
    assert v.welch(cells(n), F1)[0] > reference


def test_few_trials_spread_at_least_as_much_as_the_papers():
    assert outcome((0.75, 0.0, 2), (0.7, 0.05)) == "undecided"
    near = v.welch(cells(1, ours_mean=0.72, ours_std=0.0), F1)[0]
    far = v.welch(cells(1, ours_mean=0.95, ours_std=0.0), F1)[0]
    assert far < 0.001 < 0.3 < near


def test_equivalence_is_two_one_sided_tests_against_the_margin():
    given = cells(ours_mean=0.705, ours_std=0.01, paper_std=0.01)
    error = np.sqrt(2 * 0.01**2 / 9)
    lower = stats.t.sf((0.005 + 0.02) / error, 18)
    upper = stats.t.cdf((0.005 - 0.02) / error, 18)
    assert v.p_of_equivalence(given, FINE)[0] == pytest.approx(max(lower, upper))
    assert v.p_of_equivalence(given, F1)[0] > max(lower, upper)  # printed digits are taken farther


def test_error_rates_are_at_most_the_level():
    rng = np.random.default_rng(7)
    for shift, test in ((0.0, v.welch), (0.02, v.p_of_equivalence)):
        mine, theirs = rng.normal(0.8 + shift, 0.01, (2000, 10)), rng.normal(0.8, 0.01, (2000, 10))
        frame = pd.DataFrame({"ours_mean": mine.mean(axis=1), "ours_std": mine.std(axis=1)})
        frame["paper_mean"], frame["paper_std"] = theirs.mean(axis=1), theirs.std(axis=1)
        frame = frame.round(dict.fromkeys(("paper_mean", "paper_std"), 3))
        frame[["ours_n", "paper_n"]] = 10
        frame["difference"] = frame["ours_mean"] - frame["paper_mean"]
        assert 0.01 < np.mean(test(frame, F1) < 0.05) < 0.06


@pytest.fixture(scope="module")
def as_printed():
    return paper_as_ours()


def test_the_papers_own_numbers_are_exact_and_counted_once(as_printed):
    found = v.verdicts(as_printed, PAPER)
    assert set(found["outcome"]) == {"exact"}
    assert len(found) == 5 * 180 + 2 * 108
    printed_numbers = found["paper_mean"].notna() & (found["table"] != "runtime")
    assert (printed_numbers.sum(), found["counted"].sum()) == (852, 852 - 93)
    assert not found.loc[found["table"] == "runtime", "counted"].any()


def test_the_papers_own_summary_lines_are_exact_but_for_its_inconsistencies(as_printed):
    found = v.summary_verdicts(as_printed, PAPER)
    assert len(found) == 110
    odd = found[found["outcome"] != "exact"]
    lines = set(odd[["table", "task", "statistic", "method"]].itertuples(index=False, name=None))
    known = PAPER.inconsistencies
    known = known[(known["field"] == "value") & (known["table"] != "runtime")]
    listed = set(known[["table", "task", "statistic", "method"]].itertuples(index=False, name=None))
    # in runs equal means share a rank, which the paper's unrounded ones need not have done
    assert listed - lines == {("train-f1-tuned", "multi", "MRR", "cart")}
    assert set(odd["outcome"]) <= {"equivalent", "undecided", "better", "worse"}
    assert (odd["difference"].abs()[odd["statistic"] != "Mean"] < 0.09).all()


def test_the_answer_counts_each_number_once_and_claims_nothing_from_few_trials(as_printed):
    found = answered(reproduces.answer, as_printed)
    assert "759 of the 759 numbers" in " ".join(found.sentences)
    assert found.extra["counts"]["exact"] == 759
    few = make_runs({("paper", "tuned", "iris", "cart"): [0.938]})
    told = answered(reproduces.answer, few)
    assert "nothing can be held against it" in told.sentences[0]
    assert reproduces.answer(make_runs({("clean", "tuned", "iris", "cart"): [0.9]}), PAPER) is None


# Another paper

PRINTED = """dataset,method,metric,mean,std,n
iris,cart,test_accuracy,0.94,0.01,10
iris,gradtree,test_accuracy,0.91,0.01,10
wine,cart,test_accuracy,0.900,0.010,5
wine,gradtree,test_accuracy,>1 h,,
iris,cart,tree_size,12.5,0.5,10
"""


@pytest.fixture
def other(tmp_path):
    """Invented numbers of another paper, and runs of ours beside them."""
    (tmp_path / "printed.csv").write_text(PRINTED)
    ours = make_runs(
        {
            ("clean", "default", "iris", "cart"): trials(0.94, 0.01),
            ("clean", "default", "iris", "gradtree"): trials(0.94, 0.01),
            ("clean", "default", "wine", "cart"): trials(0.905, 0.01),
        },
        "test_accuracy",
    )
    entry = {"title": "Another paper", "csv": tmp_path / "printed.csv", "experiment": "default"}
    return ours, {**entry, "protocol": "clean", "margin": {"test_accuracy": 0.02}}


def test_printed_numbers_of_another_paper_are_judged_like_this_ones(other):
    runs, entry = other
    found = own_answer(runs, {}, {"theirs": entry})
    accuracy, size = found.tables
    assert (accuracy.name, size.name) == ("theirs-test-accuracy", "theirs-tree-size")
    assert (accuracy.decimals, size.decimals) == (3, 1)
    assert accuracy.frame["dataset"].tolist() == ["iris", "iris", "wine", "wine"]
    # .940 against .910 is no agreement: the margin is two points of accuracy, not a tenth
    assert accuracy.frame["verdict"].tolist() == ["exact", "better", "equivalent", "missing"]
    assert size.frame["verdict"].tolist() == ["missing"]
    assert found.sentences[-1].startswith("Another paper: of 4 numbers 1 exact, 1 equivalent")


def test_the_readmes_printed_numbers_give_what_it_says(tmp_path, monkeypatch):
    text = (REPOSITORY / "experiments" / "README.md").read_text(encoding="utf-8")
    (numbers,) = re.findall("```csv\n(.*?)```", text, flags=re.DOTALL)
    (code,) = re.findall("```python3\n(.*?)```", text, flags=re.DOTALL)
    (tmp_path / "theirs.csv").write_text(numbers)
    (tmp_path / "theirs.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    found = own_answer(load(), {}, runpy.run_path("theirs.py")["PRINTED"])
    assert f'prints "{found.sentences[-1]}"' in " ".join(text.split())


@pytest.mark.parametrize(
    ("changes", "text", "told"),
    [
        ({"tittle": "x"}, PRINTED, "unknown key 'tittle'; did you mean title"),
        ({"title": ""}, PRINTED, "lacks its title"),
        ({"csv": "nowhere.csv"}, PRINTED, "cannot be read"),
        ({"csv": 3}, PRINTED, "csv is 3"),
        ({"margin": 0.1}, PRINTED, "margin is 0.1"),
        ({"where": "mine.py, line 7", "title": ""}, PRINTED, "^mine.py, line 7: theirs: "),
        ({"margin": {"test_acuracy": 0.1}}, PRINTED, "did you mean test_accuracy"),
        ({}, PRINTED.replace("iris,cart,test", "irsi,cart,test"), "did you mean iris"),
        ({}, PRINTED.replace("gradtree", "gradtre"), "did you mean gradtree"),
        ({}, PRINTED.replace("accuracy", "acuracy"), "unknown metric"),
        ({}, PRINTED.replace("mean", "average"), "has no column 'mean'"),
        ({}, PRINTED + "iris,cart,tree_size,1,1,1\n", "iris cart tree_size twice"),
    ],
)
def test_mistakes_in_printed_numbers_are_told(other, changes, text, told):
    runs, entry = other
    entry["csv"].write_text(text)
    margin = {} if "acuracy" in text else entry["margin"]
    with pytest.raises(UserError, match=told):
        own_answer(runs, {}, {"theirs": {**entry, "margin": margin, **changes}})


def test_tables_of_a_plug_in_are_made_under_each_protocol(other):
    runs, _ = other
    entry = {"title": "Accuracy", "experiment": "default", "metric": "test_accuracy"}
    found = own_answer(runs, {"mine": {**entry, "methods": ["gradtree", "cart"]}}, {})
    table, statistics = found.tables
    assert (table.name, table.protocol, table.methods) == ("mine", "clean", ("gradtree", "cart"))
    assert table.summary["n"].tolist() == [1, 1, 1, 1]  # iris alone is shared
    assert statistics.name == "mine-comparison"
    assert statistics.protocol == "clean"
    begin = (
        "Accuracy (protocol clean): In accuracy CART is not shown to differ from GradTree: +0.000"
    )
    assert found.sentences[1].startswith(begin)
    with pytest.raises(UserError, match="did you mean cart"):
        own_answer(runs, {"mine": {**entry, "methods": ["carrt"]}}, {})
    assert own_answer(runs, {}, {}) is None


def test_questions_are_found_by_folder_in_their_order_after_a_plug_ins_tables(
    other, tmp_path, monkeypatch
):
    body = "from experiments.analysis.answer import Answer\nQUESTIONS = "
    body += "{{{}: lambda runs, printed: {}}}\n"
    (tmp_path / "late_one.py").write_text(body.format(9, "Answer('late', '', ())"))
    (tmp_path / "early_one.py").write_text(body.format(1, "Answer('early', '', ())"))
    (tmp_path / "nothing_run.py").write_text(body.format(2, "None"))
    monkeypatch.setattr("experiments.analysis.questions.__path__", [str(tmp_path)])
    table = {"title": "Mine", "experiment": "default", "metric": "test_accuracy"}
    found = answers(other[0], {"mine": table})
    assert [each.question for each in found] == ["own-tables", "early", "late"]
