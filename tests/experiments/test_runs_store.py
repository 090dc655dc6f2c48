"""The table of runs: what is refused, which run of a job counts, several writers, the archive."""

import time
from dataclasses import replace
from typing import Any

import pytest

from experiments.runs import schema
from experiments.runs.schema import BadRunError, Job, check, disagreement
from experiments.runs.store import Store


def job(trial: int = 0, **changes: Any) -> Job:
    versions = {"content_hash": "abc", "protocol_version": "1", "method_version": "1"}
    made = Job("paper", "tuned", "iris", "cart", '{"max_depth":3}', trial, 42, **versions)
    return replace(made, **changes)


def ok(
    trial: int = 0, test_f1: float = 0.9, finished: str = "2026-01-01T00:00:00.000Z", **more: Any
) -> dict[str, Any]:
    return job(trial).run("ok", test_f1=test_f1, finished=finished, **more)


def test_key_does_not_depend_on_the_experiment_and_on_nothing_else_it_should():
    assert job().key == job(experiment="default").key
    changed = {"dataset": "wine"}  # named by its content hash alone
    assert job(**changed).key == job().key
    for change in (
        {"content_hash": "abd"},
        {"method": "dl85"},
        {"method_version": "2"},
        {"protocol": "clean"},
        {"params": "{}"},
        {"seed": 43},
        {"measured": "alone"},
        {"evaluation": "cv:3"},
    ):
        assert job(**change).key != job().key, change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"test_f1": 1.2}, "test_f1 is 1.2"),
        ({"test_f1": float("inf")}, "test_f1"),
        ({"test_f1": True}, "test_f1"),
        ({"test_f1": None}, "ok, but without test_f1"),
        ({"status": "crash"}, "crash, but with test_f1"),
        ({"status": "fine"}, "status"),
        ({"tree_size": 2.5}, "tree_size"),
        ({"tree_size": 0}, "tree_size is 0"),
        ({"test_brier": 3.0}, "test_brier"),
        ({"tree_size": 10**30}, "tree_size is beyond"),
        ({"epochs": float("inf")}, "epochs is beyond"),
        ({"reason": "\ud800"}, "reason has half a character"),
        ({"extra": '{"a":' + "[" * 9000 + "]" * 9000 + "}"}, "extra is no JSON object"),
        ({"params": "[1]"}, "params is no JSON object"),
        ({"method": "../cart"}, "method"),
        ({"seed": 43}, "its key"),
        ({"colour": "red"}, "unknown column 'colour'"),
        ({"reason": "x" * 1000}, "reason has 1,000 characters"),
        ({"key": None}, "no key"),
    ],
)
def test_what_is_no_run_is_refused_by_name(change, message):
    with pytest.raises(BadRunError, match=message):
        check({**ok(), **change})


def test_every_declared_score_counts_in_a_comparison():
    """A score that one run lacks is no disagreement; any that both have is."""
    for name in schema.SCORES:
        high = 1.0 if schema.BY_NAME[name].type is float else 2
        ours = check({**ok(), name: high})
        theirs = check({**ok(), name: high / 2 if schema.BY_NAME[name].type is float else 1})
        assert name in disagreement(ours, theirs)
    assert not disagreement(check(ok(test_brier=0.5)), check(ok()))
    close = check(ok(test_log_loss=0.1)), check(ok(test_log_loss=0.1 * (1 + 1e-14)))
    assert not disagreement(*close)


def test_a_failed_run_keeps_no_score():
    for name in schema.SCORES:
        with pytest.raises(BadRunError):
            check(job().run("timeout", **{name: 1}))


def test_success_counts_before_failure_before_skip_in_any_order(tmp_path):
    outcomes = [
        job().run("skipped", reason="no data", finished="2026-01-03T00:00:00.000Z"),
        job().run("timeout", limit_value=3.0, finished="2026-01-02T00:00:00.000Z"),
        ok(),
    ]
    for number, order in enumerate((outcomes, outcomes[::-1], outcomes[1:] + outcomes[:1])):
        store = Store(tmp_path / str(number))
        for run in order:
            store.add([run])
        kept = store.run(job().key)
        assert kept["status"] == "ok"


def test_contradicting_success_is_reported_and_the_first_stays(tmp_path):
    store = Store(tmp_path)
    store.add([ok(test_f1=0.9)], {job().key: b"good"})
    added = store.add([ok(test_f1=0.8, finished="2027-01-01T00:00:00.000Z")], {job().key: b"bad"})
    assert len(added.conflicts) == 1
    assert "test_f1 0.9 and 0.8" in added.conflicts[0]
    assert store.run(job().key)["test_f1"] == 0.9
    assert store.predictions(job().key) == b"good"


def test_an_equal_success_replaces_no_seconds_and_adds_what_was_lacking(tmp_path):
    store, later = Store(tmp_path), "2027-01-01T00:00:00.000Z"
    store.add([ok(wall_seconds=1.0, environment="first")])
    added = store.add([ok(finished=later, wall_seconds=9.0, environment="x", test_brier=0.5)])
    assert (added.new, added.known, added.conflicts) == (0, 1, [])
    assert store.run(job().key) == check(ok(wall_seconds=1.0, environment="first", test_brier=0.5))


def test_a_bad_run_among_good_ones_keeps_nothing(tmp_path):
    store = Store(tmp_path)
    with pytest.raises(BadRunError):
        store.add([ok(0), {**ok(1), "test_f1": 2.0}])
    assert store.frame().empty


def test_later_plan_of_a_place_wins(tmp_path):
    store = Store(tmp_path)
    store.plan([job(), job(experiment="default")])
    later = job(params=Job.freeze({"max_depth": 4}))
    store.plan([later])
    plan = store.frame("planned")
    assert set(plan["key"]) == {later.key, job().key}
    assert len(plan) == 2


def test_a_job_is_claimed_once_until_its_owner_is_dead(tmp_path, monkeypatch):
    store, other = Store(tmp_path), Store(tmp_path)
    assert store.claim("k" * 20, "me")
    assert not other.claim("k" * 20, "you")
    monkeypatch.setattr("experiments.runs.store.CLAIM_SECONDS", -1.0)
    assert other.claim("k" * 20, "you")
    store.add([ok()])
    assert not store.claim(job().key, "me")


@pytest.mark.slow
def test_a_hundred_thousand_runs_are_one_file_written_in_batches(tmp_path):
    """0.08 ms of processor time a run when this was written, key and check included."""
    store, began = Store(tmp_path), time.process_time()
    for first in range(0, 100_000, 100):
        runs = [ok(trial) for trial in range(first, first + 100)]
        store.add(runs, {run["key"]: b"p" * 100 for run in runs})
    assert (time.process_time() - began) / 100_000 < 1e-3
    assert len(store.predicted_keys()) == 100_000
    store.close()
    assert len(list(tmp_path.iterdir())) == 1


def test_the_documentation_names_every_column():
    documented = schema.documentation()
    assert all(f"`{name}`" in documented for name in schema.NAMES)
