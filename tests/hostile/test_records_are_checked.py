"""Promises about records: each is checked when it is read, and none is believed.

A line that is no record is named as ``file:line: what is wrong``, set aside and counted; every
verb works with the rest. Nothing that comes from elsewhere is written outside the store it is
merged into.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hostile_store import cells_of, change_line, files_below, first_record
from test_runner_store import make_record

from experiments.__main__ import main
from experiments.analysis.findings import findings_in
from experiments.analysis.judging import judge_table
from experiments.analysis.model import Cell
from experiments.analysis.paper import grids, load_paper
from experiments.analysis.table_set import paper_table_set
from experiments.core.files import append_line
from experiments.core.job import canonical_json, key_of
from experiments.core.planned import read_datasets
from experiments.core.record import BadRecordError, RunRecord, checked
from experiments.core.store import Store, resolve
from experiments.render.report.collect import Inputs, assemble
from experiments.render.report.page import render

WRONG: dict[str, tuple[Any, str]] = {
    "F1 above one": ({"test_f1": 1.01}, "test_f1 is 1.01, not a number from 0 to 1"),
    "negative accuracy": ({"test_accuracy": -0.1}, "not a number from 0 to 1"),
    "F1 as text": ({"test_f1": "0.9"}, "test_f1 is '0.9', not a number"),
    "F1 as truth": ({"test_f1": True}, "test_f1 is True, not a number"),
    "F1 as a list": ({"test_f1": [0.9]}, "test_f1 is [0.9], not a number"),
    "size zero": ({"tree_size": 0}, "tree_size is 0, not a whole number from 1 on"),
    "half a node": ({"tree_size": 2.5}, "tree_size is 2.5, not a whole number"),
    "a size without end": ({"tree_size": 10**400}, "not a whole number from 1 on"),
    "no leaves": ({"leaves": 0}, "leaves is 0"),
    "negative seconds": ({"wall_seconds": -1}, "wall_seconds is -1, not a number from 0 on"),
    "an unknown status": ({"status": "fine"}, "status is 'fine', not one of ok"),
    "no status": ({"status": None}, "status is None"),
    "ok without a score": ({"test_f1": None}, "ok, but without test_f1"),
    "a failure with a score": ({"status": "timeout"}, "timeout, but with"),
    "another trial": ({"trial": 9}, "is not that of its fields"),
    "another learner": ({"method": "gradtree"}, "is not that of its fields"),
    "other parameters": ({"params": {"max_depth": 99}}, "is not that of its fields"),
    "another seed": ({"seed": 43}, "is not that of its fields"),
    "other data": ({"content_hash": "0" * 64}, "is not that of its fields"),
    "another key": ({"key": "0" * 20}, "is not that of its fields"),
    "a key that is a path": ({"key": "../../../../etc/passwd"}, "20 hexadecimal digits"),
    "a dataset that is a path": ({"dataset": "../../x"}, "not a name"),
    "a protocol that is a path": ({"protocol": "/tmp"}, "not a name"),
    "a method with a line end": ({"method": "cart\n"}, "not a name"),
    "an experiment that is a path": ({"experiment": "../x"}, "not a name"),
    "parameters as a list": ({"params": []}, "params is []"),
    "a limit as text": ({"extra": {"limit": "long"}}, "not a mapping of remarks"),
    "shared seconds below 0": ({"extra": {"shared_seconds": -1.0}}, "not a mapping of remarks"),
    "a shape of one": ({"extra": {"shape": [3]}}, "not a mapping of remarks"),
    "a date of another kind": ({"finished": "tomorrow"}, "finished is 'tomorrow', not a date"),
    "a field of a newer suite": ({"surprise": 1}, "unknown field 'surprise'"),
    "a lone surrogate": ({"environment": "\ud800"}, "environment is"),
    "deep parameters": ({"params": {"a": [[[[[[[[1]]]]]]]]}}, "params is"),
}
NO_RECORD = {
    "a number": ("5", "a int instead of a record"),
    "a list": ("[1]", "a list instead of a record"),
    "nothing": ("null", "a NoneType instead of a record"),
    "half a record": ('{"key":"x"}', "no protocol"),
    "deep nesting": ("[" * 100_000 + "]" * 100_000, "not a line of JSON"),
    "deep nesting inside": ('{"a":' + "[" * 900 + "]" * 900 + "}", "no key"),
    "no JSON": ("oops}", "not a line of JSON"),
    "bytes that are no text": (b"\xff\xfe{}", "not a line of JSON"),
    "a NaN": ('{"test_f1":NaN}', "not a line of JSON"),
    "an infinity": ('{"test_f1":-Infinity}', "not a line of JSON"),
    "a name twice": ('{"key":"a","key":"b"}', "not a line of JSON"),
    "a number too long": ('{"seed":' + "9" * 5000 + "}", "not a line of JSON"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_field_is_named_and_set_aside(kind: str, store: Path) -> None:
    fields, told = WRONG[kind]
    path, number, values = first_record(store, method="cart", status="ok")
    known = len(Store(store).contents().history)
    change_line(path, number, json.dumps({**values, **fields}))
    contents = Store(store).contents()
    (problem,) = contents.problems
    assert problem.startswith(f"{path}:{number}: ")
    assert told in problem
    assert problem.isprintable()
    assert len(contents.history) == known - 1


@pytest.mark.parametrize("kind", NO_RECORD)
def test_a_line_that_is_no_record_is_named_and_set_aside(kind: str, store: Path) -> None:
    line, told = NO_RECORD[kind]
    path, number, _ = first_record(store, method="cart")
    known = len(Store(store).contents().history)
    change_line(path, number, line)
    contents = Store(store).contents()
    (problem,) = contents.problems
    assert problem.startswith(f"{path}:{number}: {told}")
    assert len(contents.history) == known - 1


BESIDE = {
    "planned.jsonl": ['{"protocol":"paper"}', "5", '{"protocol":"../x"}'],
    "datasets.jsonl": ['{"slug":"iris","name":5}', "[]", '{"slug":"../x"}'],
    "learners.jsonl": ['{"slug":"cart","name":"C","version":1}', "null"],
    "environments.jsonl": ['{"id":5}', "[1]", '{"id":"x","versions":[]}'],
}


@pytest.mark.parametrize("name", BESIDE)
def test_what_lies_beside_the_records_is_checked_too(name: str, store: Path) -> None:
    good = cells_of(store)
    for line in BESIDE[name]:
        append_raw(store / name, line)
    cells, problems, _ = cells_of(store)
    assert cells == good[0]
    assert len(problems) == len(BESIDE[name])
    assert all(problem.startswith(f"{store / name}:") for problem in problems)


def append_raw(path: Path, line: str) -> None:
    path.write_bytes(path.read_bytes() + line.encode() + b"\n")


def test_every_verb_works_with_the_rest(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines and files that are no records, all at once."""
    known = len(Store(store).records())
    for line, _ in NO_RECORD.values():
        with (store / "paper" / "iris.jsonl").open("ab") as file:
            file.write((line.encode() if isinstance(line, str) else line) + b"\n")
    (store / "paper" / "x.jsonl").mkdir()
    (store / "clean" / "y.jsonl").symlink_to(store / "clean" / "y.jsonl")
    said = say_everything(store, tmp_path / "out", capsys)
    assert f"{len(NO_RECORD) + 2} problems in the records" in said
    assert len(Store(tmp_path / "out" / "merged").records()) == known


def say_everything(store: Path, output: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Every verb that reads a store, none of which may end in a traceback; what they said."""
    for words in (
        ["status", "--profile", "smoke", "--dataset", "iris", "--method", "cart"],
        ["failures"],
        ["tables", "--output", str(output)],
        ["measure", "accuracy_score", "--output", str(output)],
    ):
        assert main([words[0], "--store", str(store), *words[1:]]) in (0, 1, 3), words
    assert main(["merge", str(store), "--into", str(output / "merged")]) == 0
    said = capsys.readouterr()
    assert "Traceback" not in said.err + said.out
    return said.err + said.out


def test_a_folder_in_the_place_of_a_file_takes_no_record_away(tmp_path: Path) -> None:
    (tmp_path / "paper" / "iris.jsonl").mkdir(parents=True)
    Store(tmp_path).append(make_record("a"))
    assert [r.params["name"] for r in Store(tmp_path).records()] == ["a"]
    assert main(["merge", "--compact", "--into", str(tmp_path)]) == 0
    assert [r.params["name"] for r in Store(tmp_path).records()] == ["a"]


def test_a_nan_is_never_equivalent_nor_exact() -> None:
    """No record holds one; and a verdict on one would not be in favour."""
    for name in ("test_f1", "train_f1", "test_log_loss"):
        with pytest.raises(BadRecordError):
            checked({**make_record().to_dict(), name: math.nan})
    paper = load_paper()
    printed = paper_table_set(paper).tables["test-f1-tuned"]
    nan = Cell(mean=math.nan, std=math.nan, n=10, expected=10)
    blocks = [
        replace(b, rows=tuple(replace(r, cells=tuple(nan for _ in r.cells)) for r in b.rows))
        for b in printed.blocks
    ]
    ours = replace(printed, blocks=tuple(blocks))
    verdicts = judge_table(grids()["test-f1-tuned"], ours, printed, paper)
    assert not {verdict.outcome for verdict in verdicts} & {"exact", "equivalent", "better"}


# What comes from elsewhere stays inside, and does not win by being loud.


@pytest.mark.parametrize("name", ["dataset", "protocol", "method", "key", "experiment"])
@pytest.mark.parametrize("value", ["../../x", "/tmp/x", "..", "a/b", "a\0b", "", "X", "x" * 300])
def test_merging_writes_nothing_outside(name: str, value: str, tmp_path: Path) -> None:
    source, target = tmp_path / "deep" / "source", tmp_path / "deep" / "target"
    forged = {**make_record().to_dict(), name: value}
    if name != "key":
        record = RunRecord(**forged)
        forged["key"] = key_of(record, canonical_json(record.params))
    append_line(source / "paper" / "iris.jsonl", forged)
    folder = source / "predictions" / "paper" / "iris"
    folder.mkdir(parents=True)
    (folder / f"{make_record().key}.npz").write_bytes(b"not to be copied")
    before = set(tmp_path.rglob("*"))
    if (name, value) == ("experiment", ""):
        return  # records older than that field have none
    main(["merge", str(source), "--into", str(target)])
    new = set(tmp_path.rglob("*")) - before
    assert {path.name for path in new} <= {"target", ".lock"}
    assert Store(target).records() == []


def test_two_scores_under_one_key_are_a_conflict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for number in range(25):
        Store(ours).append(make_record(f"n{number}", test_f1=0.5))
        later = "2024-02-01T00:00:00.000Z"
        Store(theirs).append(make_record(f"n{number}", test_f1=0.9, finished=later))
    assert main(["merge", str(theirs), "--into", str(ours)]) == 1
    said = capsys.readouterr().out
    assert "0 new, 0 newer, 0 known" in said
    assert "25 conflicts: what was there before is kept" in said
    assert "paper iris cart trial 0" in said
    assert "test_f1 0.5 and 0.9" in said
    assert {record.test_f1 for record in Store(ours).records()} == {0.5}


def test_a_conflict_inside_a_store_is_told_and_not_made_compact(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for score in (0.5, 0.9):
        Store(tmp_path / "a").append(make_record(test_f1=score))
    before = files_below(tmp_path / "a" / "paper")
    assert main(["merge", "--compact", "--into", str(tmp_path / "a")]) == 2
    assert "1 jobs have two records that contradict each other" in capsys.readouterr().err
    assert files_below(tmp_path / "a" / "paper") == before
    assert main(["merge", str(tmp_path / "a"), "--into", str(tmp_path / "b")]) == 1
    assert Store(tmp_path / "b").records() == []


def test_the_last_digit_of_a_logarithm_is_no_conflict() -> None:
    one = make_record(test_log_loss=0.46292024903259854)
    assert one.agrees_with(replace(one, test_log_loss=0.46292024903259865))
    assert not one.agrees_with(replace(one, test_log_loss=0.4629202490))
    assert not one.agrees_with(replace(one, test_f1=math.nextafter(one.test_f1 or 0, 1)))


def test_a_date_in_the_future_outranks_nothing() -> None:
    now = datetime.now(UTC)
    dates = [
        (now + shift).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        for shift in (timedelta(days=400), timedelta(days=2), -timedelta(hours=1))
    ]
    records = [
        make_record(status="error", test_f1=None, reason=date, finished=date) for date in dates
    ]
    for order in (records, records[::-1]):
        assert [r.reason for r in resolve(order).values()] == [dates[2]]


def test_compacting_keeps_the_lines_it_has_no_place_for(store: Path) -> None:
    path = store / "paper" / "iris.jsonl"
    append_raw(path, '{"key":"half a rec')
    append_raw(path, "[1]")
    known = Store(store).latest()
    assert main(["merge", "--compact", "--into", str(store)]) == 0
    kept = (store / "set-aside.txt").read_text()
    assert '{"key":"half a rec\n' in kept
    assert "paper/iris.jsonl:" in kept
    assert ": [1]\n" in kept
    contents = Store(store).contents()
    assert (contents.problems, contents.torn) == ([], 0)
    assert Store(store).latest() == known


# What is no longer asked for is shown as such, never silently dropped.


def test_superseded_records_are_named_by_status_tables_and_report(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A learner got a new version: its older records stay, and no table uses them."""
    lines = [json.loads(line) for line in (store / "planned.jsonl").read_text().splitlines()]
    newer = [{**line, "method_version": "2"} for line in lines if line["method"] == "cart"]
    for line in newer:
        append_line(store / "planned.jsonl", line)
    found = findings_in(store)
    (why, some), *_ = [
        (why, some) for why, some in found.superseded.items() if "learner cart version" in why
    ]
    assert why == "learner cart version 1, now 2"
    assert len(some) > 5
    told = f"Superseded: {len(some):,} records ({why}); no table uses them."
    main(["tables", "--store", str(store), "--output", str(tmp_path)])
    assert told in capsys.readouterr().out
    main(["status", "--store", str(store), "--profile", "smoke", "--dataset", "iris"])
    assert told in capsys.readouterr().out
    inputs = Inputs(found, Store(store).records(), read_datasets(store))
    shown = assemble(inputs, [])
    assert f"<li>{len(some):,} records: {why}</li>" in render(shown)
