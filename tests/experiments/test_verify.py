"""``verify`` notices whatever is not what the runs give."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from output_samples import NAMES, PROFILES, answers, written

from experiments.__main__ import main
from experiments.analysis.runs import Runs, load
from experiments.commands.tables_measure_report_verify import catalogue
from experiments.output import checks, readme
from experiments.runner.scores import number_scores, scores_of
from experiments.runs import archive
from experiments.runs.schema import check
from experiments.runs.store import Store

DERIVED = (
    "results/verdicts.csv",
    "results/claims.csv",
    "results/tables/against-cart.csv",
    "results/tables/against-cart.tex",
    "results/tables/paper/test-f1-tuned.csv",
    "results/tables/paper/test-f1-tuned-summary.csv",
    "results/tables/all.tex",
    "results/tables/macros.tex",
    "README.md",
    "results/README.md",
    "results/DEFAULTS.md",
    "experiments/README.md",
)


def wrong(root: Path) -> list[str]:
    results = root / "results"
    done = [
        checks.tables(answers(), NAMES, results),
        checks.readmes(answers(), PROFILES, root),
        checks.figures(answers(), results),
        checks.written("Report", {"report.html": "<p>page</p>"}, results),
    ]
    assert all(each.compared for each in done)
    return [line for each in done for line in each.wrong]


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    written(tmp_path)
    (tmp_path / "results" / "report.html").write_text("<p>page</p>")
    assert wrong(tmp_path) == []
    return tmp_path


@pytest.mark.parametrize("name", [*DERIVED, "results/report.html"])
def test_one_byte_of_a_file_and_a_missing_file(whole, name):
    path = whole / name
    text = path.read_bytes()
    place = text.index(readme.BEGIN.encode()) + 40 if name.endswith(".md") else len(text) // 2
    changed = b"#" if text[place : place + 1] != b"#" else b"*"
    path.write_bytes(text[:place] + changed + text[place + 1 :])
    (line,) = wrong(whole)
    assert line.startswith(name.removeprefix("results/") if not name.endswith(".md") else name)
    path.unlink()
    (line,) = wrong(whole)
    assert path.name in line
    assert "missing" in line


def test_a_missing_figure_and_a_file_that_no_answer_owns(whole):
    (whole / "results" / "tables" / "old.csv").write_text("a\n")
    (whole / "results" / "figures" / "difference.pdf").unlink()
    stray, figure = wrong(whole)
    assert stray == "tables/old.csv belongs to no answer"
    assert "difference.pdf" in figure


def some_runs() -> pd.DataFrame:
    frame = archive.read_runs()
    small = frame[(frame["protocol"] == "paper") & (frame["dataset"] == "iris")]
    return small[small["method"] == "cart"].head(6)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with six committed fits."""
    opened = Store(tmp_path / "runs")
    opened.add([check(run) for run in archive.rows(some_runs())])
    opened.close()
    return tmp_path / "runs"


def change(store: Path, what: str) -> None:
    opened = Store(store)
    with opened.writing() as connection:
        connection.execute(f"UPDATE runs SET {what}")
    opened.close()


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("test_f1 = 1.5", "test_f1"),
        ("seed = 43", "its key"),
        *[("method = 'X!'", "method"), ("params = '[]'", "params"), ("content_hash = ''", "key")],
        *[("test_f1 = NULL", "without test_f1"), ("status = 'timeout'", "timeout")],
    ],
)
def test_no_row_that_is_no_run_passes(store, what, told):
    assert checks.rows(store).lines() == ["Rows of the table of runs: 6 compared, all right"]
    change(store, f"{what} WHERE trial = 0")
    assert any(told in line for line in checks.rows(store).wrong)


def test_fits_are_compared_one_by_one(store):
    assert checks.fits(store).lines()[0].endswith("6 compared, all right")
    change(store, "test_f1 = test_f1 / 2 WHERE trial = 0")
    found = checks.fits(store)
    assert found.compared == 6
    assert found.wrong
    assert all("iris cart trial 0" in line and "test_f1" in line for line in found.wrong)


@pytest.mark.parametrize(("method", "apart"), [("dndt", 1), ("gradtree", 0)])
def test_dndt_of_another_processor_is_counted_apart(tmp_path, method, apart):
    known = archive.read_runs().query(
        f"method == '{method}' and dataset == 'iris' and status == 'ok' and measured == 'shared'"
    )
    (run,) = archive.rows(known.head(1))
    Store(tmp_path).add([{**run, "environment": "elsewhere", "tree_size": run["tree_size"] + 2}])
    found = checks.fits(tmp_path)
    assert (found.apart, found.compared, len(found.wrong)) == (apart, 1 - apart, 1 - apart)
    assert ("do not count" in " ".join(found.lines())) == bool(apart)


def test_verify_of_a_store_ends_with_its_status(store, capsys):
    assert main(["verify", "--store", str(store)]) == 0
    assert "Your fits against the committed ones: 6 compared" in capsys.readouterr().out
    change(store, "tree_size = tree_size + 2")
    assert main(["verify", "--store", str(store)]) == 1


scored = partial(checks.scores, of_classes=scores_of, of_numbers=number_scores)


def test_raised_scores_of_an_archive_are_noticed_one_by_one(tmp_path):
    """None of the committed ones; a hundred whose predictions are kept, raised by .05 in a copy."""
    assert scored(archive.COMMITTED).wrong == []
    kept = archive.read_predictions(archive.COMMITTED)
    runs, plan = archive.read_runs(), archive.read_plan()
    runs = runs[runs["key"].isin(kept) & (runs["test_f1"] < 0.95)].head(200).copy()
    plan, facts = plan[plan["key"].isin(runs["key"])], archive.read_facts()
    archive.write(tmp_path, runs, plan, facts)
    archive.write(tmp_path / "none", runs.head(0), plan.head(0), facts)
    assert "keeps no predictions" in scored(tmp_path / "none").skipped
    rows = runs[["protocol", "dataset", "trial", "key"]].astype(object).itertuples(index=False)
    archive.write_predictions(tmp_path, [(row[:3], row.key, kept[row.key]) for row in rows])
    found = scored(tmp_path)
    assert found.lines() == ["Scores recomputed from predictions: 200 compared, all right"]
    runs.loc[runs.index[:100], "test_f1"] += 0.05
    archive.write(tmp_path, runs, plan, facts)
    found = scored(tmp_path)
    assert len(found.wrong) == 100
    assert all("test_f1 is" in line for line in found.wrong)
    assert found.lines()[-1] == "  and 95 more"
    (tmp_path / archive.PREDICTIONS).unlink()
    counts = runs[runs["key"].isin(archive.headline(plan))].groupby(["protocol", "method"]).size()
    assert len(counts)
    assert set(scored(tmp_path).wrong) == {
        f"{protocol} {method}: {count} runs of the headline have no predictions"
        for (protocol, method), count in counts.items()
    }


@pytest.fixture(scope="module")
def committed() -> Runs:
    runs = load()
    assert catalogue(runs).wrong == []
    return runs


def test_a_relabelled_plan_is_noticed(committed):
    """Two methods that stand in each other's place: every key is one that the catalogue gives."""
    frame = committed.frame
    part = (frame["experiment"] == "tuned") & (frame["protocol"] == "paper")
    part &= (frame["dataset"] == "iris") & frame["method"].isin(["cart", "gradtree"])
    other = frame["method"].map({"cart": "gradtree", "gradtree": "cart"})
    relabelled = frame.assign(method=frame["method"].mask(part, other))
    found = catalogue(replace(committed, frame=relabelled))
    assert len(found.wrong) == 2
    assert all("paper tuned: 10 jobs of" in line for line in found.wrong)


@pytest.mark.parametrize(
    ("gone", "told"),
    [
        ("dataset == 'iris' and trial == 3", "1 jobs of gradtree are left out"),
        ("dataset == 'iris'", "10 jobs of gradtree are left out"),
        ("trial == 9", "36 jobs of gradtree are left out"),
    ],
)
def test_a_plan_without_the_worst_trials_is_noticed(committed, gone, told):
    gone = f"experiment == 'tuned' and protocol == 'paper' and method == 'gradtree' and {gone}"
    frame = committed.frame.drop(committed.frame.query(gone).index)
    assert catalogue(replace(committed, frame=frame)).wrong == [f"paper tuned: {told}"]


def test_names_that_were_exchanged_are_noticed(committed):
    cart = {**committed.learners["cart"], "name": "GradTree"}
    (line,) = catalogue(replace(committed, learners={**committed.learners, "cart": cart})).wrong
    assert line.startswith("facts.json: cart is ")
