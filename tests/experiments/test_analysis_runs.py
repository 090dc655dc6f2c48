"""The frame of runs: plan and outcomes joined, from an archive and from a store."""

from __future__ import annotations

import json
import subprocess
import sys

import pandas as pd
import pytest

from experiments.analysis.runs import Runs, as_tuned, joined, load
from experiments.errors import UserError
from experiments.runs import archive
from experiments.runs.job import Job
from experiments.runs.store import PLANNED, Store

BLOCKED = ("gradtree", "baselines", "datasets", "tensorflow", "numba", "sklearn")


def job(trial: int, experiment: str = "tuned", **fields: object) -> Job:
    given = {"protocol": "clean", "dataset": "iris", "method": "cart", "params": "{}", "seed": 42}
    return Job(experiment=experiment, trial=trial, **{**given, **fields})  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path):
    """A store with three planned jobs, of which two have ended."""
    made = Store(tmp_path / "store")
    jobs = [job(0), job(1), job(2), job(0, "default")]
    made.plan(jobs)
    made.add(
        [
            jobs[0].run("ok", test_f1=0.5, tree_size=7, finished="2026-01-01T00:00:00.000Z"),
            jobs[1].run("timeout", limit_value=60.0, reason="more than 60 s"),
        ]
    )
    made.add_facts("learner", {"cart": {"slug": "cart", "name": "My CART"}})
    made.close()
    return tmp_path / "store"


def archived(store, tmp_path):
    """The same as an archive of Parquet files."""
    source = Store(store)
    facts = {kind: dict(source.facts(kind)) for kind in archive.KINDS}
    archive.write(tmp_path / "archive", source.frame("runs"), source.frame("planned"), facts)
    source.close()
    return tmp_path / "archive"


def test_a_run_stands_in_every_experiment_that_plans_it(store):
    frame = load(store).frame
    assert frame["experiment"].tolist() == ["default", "tuned", "tuned", "tuned"]
    assert frame["status"].tolist() == ["ok", "ok", "timeout", ""]
    assert frame["test_f1"].tolist()[:2] == [0.5, 0.5]
    assert frame["test_f1"].isna().tolist() == [False, False, True, True]
    assert frame["tree_size"].dtype == float
    assert frame["limit_value"].tolist()[2] == 60.0


def test_an_archive_and_a_store_give_the_same_frame(store, tmp_path):
    from_store, from_archive = load(store), load(archived(store, tmp_path))
    pd.testing.assert_frame_equal(from_store.frame, from_archive.frame)
    assert from_store.name("cart") == from_archive.name("cart") == "My CART"


def test_names_come_from_the_stores_facts_then_the_committed_ones_then_the_slug(store):
    runs = load(store)
    assert [runs.name(slug) for slug in ("cart", "iris", "me")] == ["My CART", "Iris", "me"]


def test_a_folder_without_runs_is_told(tmp_path):
    with pytest.raises(UserError, match="holds no runs"):
        load(tmp_path)


def test_what_our_search_found_can_stand_for_the_published_settings():
    experiments = ["tuned", "tuned", "searched", "default"]
    methods = ["cart", "dl85", "cart", "cart"]
    found = as_tuned(pd.DataFrame({"experiment": experiments, "method": methods}))
    assert found["experiment"].to_dict() == {1: "tuned", 2: "tuned", 3: "default"}


def test_nothing_planned_is_an_empty_frame_with_all_columns(tmp_path):
    runs = archive.read_runs(tmp_path)
    frame = joined(pd.DataFrame(columns=list(PLANNED)), runs)
    assert len(frame) == 0
    assert {"experiment", "status", "test_f1"} <= set(frame)
    assert Runs(frame, {}, {}, {}, archive.COMMITTED).of("paper", "tuned").empty


def test_a_stores_own_winners_replace_the_committed_ones(store):
    committed = load().winners
    first = committed.iloc[0]
    (store / "search").mkdir()
    own = pd.DataFrame([first]).assign(score=0.999)
    own.to_csv(store / "search" / "winners.csv", index=False)
    found = load(store).winners
    assert len(found) == len(committed)
    place = found["protocol"] + found["dataset"] + found["method"]
    own_place = first["protocol"] + first["dataset"] + first["method"]
    assert found.loc[place == own_place, "score"].tolist() == [0.999]


def test_the_committed_plan_names_each_place_once_and_every_run():
    frame = load().frame
    place = ["experiment", "protocol", "dataset", "method", "trial", "seed", "repeat"]
    assert not frame.duplicated(place).any()
    assert set(archive.read_runs(columns=["key"])["key"]) <= set(frame["key"])


def test_the_analysis_needs_no_learner_no_data_and_no_engine():
    code = (
        "import sys, json\n"
        f"for name in {BLOCKED!r}: sys.modules[name] = None\n"
        "import experiments.analysis.answers as a, pkgutil, importlib\n"
        "from experiments.analysis import questions\n"
        "names = [m.name for m in pkgutil.iter_modules(questions.__path__)]\n"
        "for name in names: importlib.import_module('experiments.analysis.questions.' + name)\n"
        "print(json.dumps(len(names)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) >= 2
