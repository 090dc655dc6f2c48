"""``audit`` runs committed jobs again, notices altered ones, and changes nothing."""

import random
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from runner_helpers import job_of

from experiments.commands import audit
from experiments.runner import registry
from experiments.runner.run_job import run_job
from experiments.runs import archive
from experiments.runs.schema import check, disagreement
from experiments.runs.store import Store

AT_HAND = ("wine", "wisconsin-breast-cancer")


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four committed runs on data that scikit-learn brings: two of the headline, two others."""
    monkeypatch.setenv("GRADTREE_SOURCES", "installed")
    runs, plan = archive.read_runs(), archive.read_plan()
    plan = plan[(plan["protocol"] == "paper") & (plan["dataset"] == "wine") & (plan["trial"] < 2)]
    plan = plan[(plan["experiment"] == "default") & plan["method"].isin(["cart", "cart-pruned"])]
    folder = tmp_path / "results"
    archive.write(folder, runs[runs["key"].isin(plan["key"])], plan, archive.read_facts())
    monkeypatch.setattr(audit, "COMMITTED", folder)
    return folder


def alter(folder: Path, **changes: Any) -> None:
    """Rewrite the first run of CART."""
    runs = archive.read_runs(folder)
    first = runs.index[(runs["method"] == "cart") & (runs["trial"] == 0)]
    for name, value in changes.items():
        runs.loc[first, name] = value
    archive.write(folder, runs, archive.read_plan(folder), archive.read_facts(folder))


QUICK = ("--inline",)


def test_what_was_not_altered_is_equal_and_stays(run, results):
    before = {path.name: path.read_bytes() for path in results.iterdir()}
    status, said, _ = run("audit", 4, "--workers", 1)
    assert status == 0
    assert "4 of 4 runs, drawn with --seed " in said
    assert "4 of 4 equal (2 headline, 2 others): had more than 52.7 % of these runs" in said
    assert {path.name: path.read_bytes() for path in results.iterdir()} == before


def test_what_was_altered_is_told(run, results):
    """A raised score, other parameters under an old key, and a run that never existed."""
    committed = archive.read_runs(results)
    (true,) = committed[(committed["method"] == "cart") & (committed["trial"] == 0)]["test_f1"]
    made_up = job_of("cart", "wine", nonsense=1)
    for changes, told in (
        (
            {"test_f1": true - 0.05, "environment": "forged"},
            f"paper wine cart 0 42: test_f1 {true - 0.05!r} and {true!r}\n  forged and ",
        ),
        ({"params": '{"max_depth":1}'}, "3 of 4 equal"),
        (
            {"params": made_up.params, "key": made_up.key},
            f"{made_up.key} ok and {made_up.key} error: ",
        ),
    ):
        alter(results, **changes)
        status, said, _ = run("audit", 4, *QUICK)
        assert (status, told in said, "3 of 4 equal" in said) == (1, True, True)
        assert "noticed" not in said
        archive.write(results, committed, archive.read_plan(results), archive.read_facts(results))


@cache
def cheapest() -> pd.DataFrame:
    """Under every protocol the two cheapest runs of each learner on data that packages bring."""
    runs = archive.read_runs()
    runs = runs[runs["dataset"].isin(AT_HAND) & (runs["trial"] == 0) & (runs["status"] == "ok")]
    runs = runs[(runs["evaluation"] == "holdout") & (runs["measured"] == "shared")]
    runs = runs.assign(cost=runs["cpu_seconds"] + runs["shared_seconds"].fillna(0))
    runs = runs[runs["cost"] < 2].sort_values(["cost", "key"])
    return runs.groupby(["dataset", "protocol", "method"]).head(2).drop(columns="cost")


@pytest.mark.parametrize("dataset", AT_HAND)
@pytest.mark.parametrize("method", [slug for slug in registry.entries("learner") if slug != "dndt"])
def test_every_learner_repeats_its_committed_runs_to_the_last_digit(method, dataset, monkeypatch):
    """All but DNDT, whose sums depend on the processor."""
    monkeypatch.setenv("GRADTREE_SOURCES", "installed")
    if absence := registry.learner(method).absence():
        pytest.skip(str(absence))
    mine = cheapest()[(cheapest()["method"] == method) & (cheapest()["dataset"] == dataset)]
    if mine.empty:
        pytest.skip("no committed run on this table takes under two seconds")
    for row in archive.rows(mine):
        again = check(run_job(audit.job_of(row)).run)
        assert (again["key"], again["status"]) == (row["key"], "ok"), again["reason"]
        assert not disagreement(row, again), row["params"]


def test_slow_runs_are_left_out_and_counted(run, results):
    alter(results, cpu_seconds=9.0)
    status, said, _ = run("audit", 4, "--most-seconds", 5, *QUICK)
    assert status == 0
    assert "25.0 % of all 4 successful runs and 50.0 % of the headline's" in said
    assert "3 of 3 equal (1 headline, 2 others)" in said


MACHINES = {
    name: {"machine": {"cpu": "AMD EPYC", "cpu_numbers": numbers}}
    for name, numbers in {"here": "model 17", "there": "model 1", "unknown": ""}.items()
}


@pytest.mark.parametrize(
    ("method", "where", "status", "told"),
    [
        ("dndt", "there", 0, "processor (CONTRIBUTING.md): 0 of 1 equal\n0 of 0 equal"),
        ("dndt", "unknown", 0, "another processor, committed and here: paper wine dndt 0 42"),
        ("dndt", "here", 1, "0 of 1 equal"),
        ("cart", "there", 1, "differs, committed and here: paper wine cart 0 42"),
    ],
)
def test_dndt_alone_may_differ_and_only_on_another_processor(
    method, where, status, told, tmp_path, capsys
):
    job, store = job_of(method, "wine"), Store(tmp_path)
    store.add([job.run("ok", test_f1=0.5, environment="here")])
    committed = {**(store.run(job.key) or {}), "test_f1": 0.6, "environment": where}
    assert audit.compare([{**committed, "headline": False}], store, MACHINES) == status
    assert told in capsys.readouterr().out


def test_what_cannot_be_run_here_is_no_proof(tmp_path, capsys):
    jobs, store = [job_of("cart", "wine", trial) for trial in range(3)], Store(tmp_path)
    rows = [{**job.run("ok", test_f1=0.5, environment=""), "headline": True} for job in jobs]
    store.add([jobs[0].run("skipped", reason="no data"), jobs[1].run("timeout", reason="1 s")])
    assert audit.compare(rows, store, {}) == 3
    said = capsys.readouterr().out
    for line in ("1, skipped: no data", "1, timeout: 1 s", "1, not run"):
        assert f"not compared: {line}\n" in said
    assert said.endswith("0 of 0 equal (0 headline, 0 others)\n")


def test_half_of_a_draw_is_of_the_headline_and_none_comes_twice():
    keys = [f"{number:03}" for number in range(200)]
    runs = pd.DataFrame({"key": keys, "headline": [number < 20 for number in range(200)]})
    for number, first, others in ((9, 5, 4), (100, 20, 80), (900, 20, 180)):
        chosen = audit.draw(runs, number, random.Random(1))
        assert Counter(chosen["headline"]) == {True: first, False: others}
        assert chosen["key"].is_unique
        assert chosen.equals(audit.draw(runs.iloc[::-1], number, random.Random(1)).sort_index())
    assert not chosen.head(5).equals(audit.draw(runs, 5, random.Random(2)))
