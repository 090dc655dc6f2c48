"""Seeds, stability, search, solvers, runtimes and small trees, on invented runs."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from analysis_support import answered, make_runs

from experiments.analysis.printed import printed
from experiments.analysis.questions import against_cart, answers, costs, draws, search, small_trees
from experiments.analysis.runs import Runs

PAPER = printed()
FIT = {"status": "ok", "test_f1": 0.8}


def test_nothing_run_answers_nothing():
    assert answers(make_runs({})) == []


def stacked(*parts: Runs) -> Runs:
    return replace(parts[0], frame=pd.concat([part.frame for part in parts], ignore_index=True))


def test_only_seeds_with_all_trials_count():
    place = ("paper", "seeds", "iris", "gradtree")
    parts = [make_runs({("paper", "tuned", "iris", "gradtree"): [0.9] * 3})]
    for seed, scores in ((1, [0.8, 0.8]), (2, [0.6, 0.6]), (3, [0.1, None])):
        own = make_runs({place: scores})
        parts.append(replace(own, frame=own.frame.assign(seed=seed)))
    row = draws.seeds(stacked(*parts), PAPER, "seeds").iloc[0]
    assert (row["Dataset"], row["seeds"], row["authors' draws"]) == ("Iris", 2, 0.9)
    assert row["other seeds"] == pytest.approx(0.7)
    assert row["other seeds spread"] == pytest.approx(0.2 / 2**0.5)


def refitted(moves: dict[int, float], **changed: str) -> Runs:
    """Two tuned trials of Iris, refitted five times; ``moves`` by number of the refit."""
    fits = make_runs({("paper", "tuned", "iris", "gradtree"): [0.8, 0.7]})
    parts = [replace(fits, frame=fits.frame.assign(params='{"depth":7}'))]
    for number in range(1, 6):
        again = make_runs(
            {("paper", "stability", "iris", "gradtree"): [0.8 + moves.get(number, 0.0), 0.7]}
        )
        params = f'{{"depth":7,"perturbation":{number}}}'
        made = again.frame.assign(repeat=str(number), params=params, **changed)
        parts.append(replace(again, frame=made))
    return stacked(*parts)


def test_a_trial_is_stable_if_no_refit_moves_it():
    runs = refitted({3: -0.25})
    (row,) = draws.stability(draws.refits(runs, "stability"), PAPER).to_dict("records")
    assert (row["trials"], row["stable"], row["cell"]) == (2, 1, "fragile")
    assert row["largest change"] == pytest.approx(0.25)
    (row,) = draws.stability(draws.refits(refitted({}), "stability"), PAPER).to_dict("records")
    assert (row["stable"], row["cell"]) == (2, "stable")


def test_refits_of_other_versions_or_fewer_than_five_belong_to_no_trial():
    assert draws.refits(refitted({}, method_version="0"), "stability").empty
    runs = refitted({})
    fewer = replace(runs, frame=runs.frame[runs.frame["repeat"] != "4"])
    assert draws.refits(fewer, "stability").empty
    assert draws.rounding(fewer, PAPER) is None


def test_a_search_that_ran_in_part_gives_no_number():
    cells: dict[Any, list[Any]] = {
        ("paper", "tuned", "iris", "cart"): [0.9] * 10,
        ("paper", "searched", "iris", "cart"): [0.8] * 10,
        ("paper", "tuned", "wine", "cart"): [0.9] * 10,
        ("paper", "searched", "wine", "cart"): [0.8] * 9 + [None],
    }
    frame = search.searched(make_runs(cells), PAPER, "paper")
    assert frame["Dataset"].tolist() == ["Iris"]
    assert frame.loc[0, ["CART: published", "CART: ours"]].tolist() == pytest.approx([0.9, 0.8])


def solved(**changed: Any) -> dict[str, Any]:
    errors = changed.pop("errors", 3)
    made = {"train_f1": 0.9, "tree_size": 7, "cpu_seconds": 2.0, "environment": "a"}
    return {**FIT, **made, "extra": f'{{"errors":{errors}}}', **changed}


def test_fits_are_alike_to_the_last_digit_and_seconds_divided_on_one_kind_of_machine():
    slower = solved(cpu_seconds=8.0)
    cells = {
        ("paper", "solvers", "iris", "dl85"): [solved(), solved(), solved()],
        ("paper", "solvers", "iris", "dl85-original"): [slower, {**slower, "train_f1": 0.91}],
        ("paper", "solvers", "wine", "dl85"): [solved()],
        ("paper", "solvers", "wine", "dl85-original"): [{**slower, "environment": "b"}],
        ("paper", "solvers", "car", "dl85"): [solved()],
        ("paper", "solvers", "car", "dl85-original"): [{"status": "timeout", "limit_value": 60}],
    }
    frame = costs.against_library(make_runs(cells), PAPER, "paper").set_index("Dataset")
    iris = frame.loc["Iris"]
    assert (iris["trials"], iris["same"], iris["Seconds: pydl8.5"], iris["ratio"]) == (2, 1, 16, 4)
    assert pd.isna(frame.at["Wine", "ratio"])
    assert (frame.at["Car", "trials"], frame.at["Car", "Seconds: pydl8.5"]) == (0, ">1 min")


def test_solvers_that_disagree_are_told():
    cells = {
        ("clean", "solvers-alone", "iris", "dl85"): [solved()],
        ("clean", "solvers-alone", "iris", "dl85-streed"): [solved(errors=4, cpu_seconds=1.0)],
    }
    answer = answered(costs.solvers, make_runs(cells))
    row = answer.tables[0].frame.iloc[0]
    assert (row["errors"], row["alike"], row["Ratio: DL8.5 by STreeD"]) == (3, "no", 0.5)
    assert "on 0 of 1 datasets" in answer.sentences[-1]


BEST = {"cart-pruned": 0.8, "cart-shrunk": 0.79, "gradtree": 0.7, "boosting": 0.9}


def small(**scores: float) -> dict[Any, list[Any]]:
    cells: dict[Any, list[Any]] = {}
    for at, slug in enumerate(PAPER.datasets.index[:8]):
        for method, score in {**BEST, **scores}.items():
            auc = 0.9 if method == "cart-shrunk" else 0.8
            outcome = {"status": "ok", "test_f1": score + 0.001 * at, "test_roc_auc": auc}
            cells["clean", "small-trees", slug, method] = [{**outcome, "leaves": 4}] * 10
    return cells


def test_learners_are_compared_on_the_datasets_that_all_of_them_finished():
    cells = small()
    cells["clean", "small-trees", PAPER.datasets.index[0], "cart-shrunk"][0] = None  # one trial
    for slug in PAPER.datasets.index[2:8]:  # finished two of eight: no line, shortens nobody's
        cells["clean", "small-trees", slug, "contree"] = [None] * 10
    for slug in PAPER.datasets.index[:2]:
        cells["clean", "small-trees", slug, "contree"] = [0.99] * 10
    cells["clean", "small-trees", PAPER.datasets.index[0], "cart-shrunk"] = [None] * 10
    found = small_trees.lines(make_runs(cells)).set_index("method")
    assert found["n"].unique().tolist() == [7]
    assert "contree" not in found.index
    assert found.at["cart-pruned", "rank"] == 1
    assert pd.isna(found.at["boosting", "rank"])
    share = found.at["gradtree", "F1"] / found.at["boosting", "F1"]
    assert found.at["gradtree", "of boosting"] == pytest.approx(share)


def test_a_better_learner_is_named():
    answer = answered(small_trees.answer, make_runs(small(**{"cart-shrunk": 0.85})))
    assert "only CART (shrinkage) at free size is significantly better" in answer.sentences[0]


def test_what_is_found_counts_trees_near_the_truth_that_are_small(tmp_path):
    runs = SimpleNamespace(store=tmp_path)
    assert against_cart.interactions(runs, None) is None
    fits = [
        ("board", "CART", 0, 1.0, 0.99, 31),
        ("board", "GradTree", 0, 1.0, 0.98, 29),
        ("board", "CART", 1, 1.0, 0.97, 5),
        ("board", "GradTree", 1, 0.9, 0.87, 5),
    ]
    columns = ["table", "learner", "draw", "truth", "accuracy", "nodes"]
    (tmp_path / "bench").mkdir()
    pd.DataFrame(fits, columns=columns).to_csv(tmp_path / "bench" / "interactions.csv")
    found = against_cart.interactions(runs, None)
    row = found.tables[0].frame.loc[0]
    assert (row["CART: found"], row["GradTree: found"]) == (0, 1)
    assert row["GradTree: accuracy"] == pytest.approx(0.925)
    assert "by GradTree in 1 and CART in 0" in found.sentences[0]
    assert found.sentences[1].endswith("found by CART in 1.")
