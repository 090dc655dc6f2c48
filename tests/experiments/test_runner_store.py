"""The store: nothing whole is lost, nothing torn is believed, whatever the moment of a kill."""

from __future__ import annotations

import itertools
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.core import machine, store
from experiments.core.files import append_line, content_of, read_lines
from experiments.core.job import canonical_json, key_of
from experiments.core.merging import compact, merge
from experiments.core.record import STATUSES, RunRecord, checked
from experiments.core.store import Store, resolve
from experiments.runner.executors.process import python_environment


def make_record(name: str = "k0", dataset: str = "iris", **fields: object) -> RunRecord:
    """A record that passes every check; ``name`` makes it a job of its own."""
    values = {
        "key": "",
        "protocol": "paper",
        "method": "cart",
        "params": {"max_depth": 3, "name": name},
        "trial": 0,
        "seed": 42,
        "status": "ok",
        "test_f1": 0.9369963369963371,
        "finished": "2024-01-01T00:00:00.000Z",
    }
    record = RunRecord(dataset=dataset, **{**values, **fields})  # type: ignore[arg-type]
    return replace(record, key=key_of(record, canonical_json(record.params)))


def names(records: Iterable[RunRecord]) -> list[str]:
    return [record.params["name"] for record in records]


def test_records_read_back_equal(tmp_path: Path) -> None:
    written = [
        make_record("a", test_log_loss=1e-12, extra={"limit": 3.5}),
        make_record("b", status="error", test_f1=None, traceback="Traceback\n  ü\n", log_tail="…"),
        make_record("c", dataset="zoo", evaluation="cv:3", valid_f1=0.5),
    ]
    for record in written:
        Store(tmp_path).append(record)
    assert Store(tmp_path).latest() == {record.key: record for record in written}
    assert (tmp_path / "paper" / "iris.jsonl").exists()
    assert (tmp_path / "search-paper" / "zoo.jsonl").exists()


def test_a_line_says_only_what_is_known(tmp_path: Path) -> None:
    Store(tmp_path).append(make_record())
    ((_, line),) = read_lines(tmp_path / "paper" / "iris.jsonl").values
    assert "train_f1" not in line
    assert "traceback" not in line


def test_a_kill_at_any_byte_loses_at_most_the_line_it_hit(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    records = [make_record(f"k{i}", reason="ümlaut") for i in range(3)]
    for record in records:
        Store(whole).append(record)
    data = (whole / "paper" / "iris.jsonl").read_bytes()
    ends = [i for i, byte in enumerate(data) if byte == ord("\n")]
    for cut in range(len(data)):
        folder = tmp_path / f"cut{cut}"
        path = folder / "paper" / "iris.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(data[:cut])
        # A line is whole when its last byte is there, with or without the line break.
        expected = [r.params["name"] for r, end in zip(records, ends, strict=True) if end <= cut]
        assert names(Store(folder).records()) == expected
        late = make_record("late")
        Store(folder).append(late)
        assert names(Store(folder).records()) == [*expected, "late"]


def test_torn_lines_are_counted(tmp_path: Path) -> None:
    Store(tmp_path).append(make_record())
    with (tmp_path / "paper" / "iris.jsonl").open("ab") as file:
        file.write(b'{"key": "torn", "st')
    Store(tmp_path).append(make_record("next"))
    contents = Store(tmp_path).contents()
    assert (contents.torn, contents.problems) == (1, [])
    assert names(contents.history) == ["k0", "next"]


def test_a_record_of_a_newer_suite_is_set_aside(tmp_path: Path) -> None:
    append_line(tmp_path / "paper" / "iris.jsonl", {**make_record().to_dict(), "new": 1})
    (problem,) = Store(tmp_path).contents().problems
    assert re.search(r"iris.jsonl:1: unknown field 'new': .*newer version", problem)


def test_which_duplicate_counts_does_not_depend_on_the_order() -> None:
    records = [
        make_record(
            status=status,
            test_f1=0.5 if status == "ok" else None,
            finished=f"2024-01-0{day}T00:00:00.000Z",
        )
        for status in STATUSES
        for day in (1, 2)
    ]
    best = make_record(status="ok", test_f1=0.5, finished="2024-01-02T00:00:00.000Z")
    shuffler = random.Random(0)
    for _ in range(50):
        shuffler.shuffle(records)
        assert resolve(records) == {best.key: best}
    failures = [r for r in records if r.status in ("skipped", "timeout")]
    for order in itertools.permutations(failures):
        assert resolve(order)[best.key].status == "timeout"


def test_a_later_failure_does_not_hide_a_success(tmp_path: Path) -> None:
    Store(tmp_path).append(make_record(finished="2024-01-01T00:00:00.000Z"))
    failed = make_record(status="crash", test_f1=None, finished="2024-01-02T00:00:00.000Z")
    Store(tmp_path).append(failed)
    assert Store(tmp_path).latest()[failed.key].status == "ok"
    assert len(Store(tmp_path).contents().history) == 2


def test_environments_are_spelled_out_once(tmp_path: Path) -> None:
    here = machine.describe()["id"]
    for key in "abc":
        Store(tmp_path).append(make_record(key, environment=here))
    lines = read_lines(tmp_path / "environments.jsonl").values
    assert [line["id"] for _, line in lines] == [here]
    assert lines[0][1]["versions"]["numpy"]
    assert set(Store(tmp_path).environments()) == {here}


def test_files_stay_small_enough_to_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "ROLL_AT_BYTES", 2000)
    rolling = Store(tmp_path)
    for i in range(40):
        rolling.append(make_record(f"k{i:02}"))
    sizes = [path.stat().st_size for path in tmp_path.glob("paper/*.jsonl")]
    assert len(sizes) > 3
    assert max(sizes) < 3000
    assert len(Store(tmp_path).latest()) == 40
    compact(rolling)
    assert sorted(names(Store(tmp_path).records())) == [f"k{i:02}" for i in range(40)]
    (packed,) = rolling.files()
    assert packed.stat().st_size < sum(sizes) / 4


def test_records_added_together_are_those_added_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "ROLL_AT_BYTES", 2000)
    monkeypatch.setattr(store, "TOGETHER", 3)
    records = [make_record(f"{slug}{i}", slug) for i in range(20) for slug in ("iris", "wine")]
    together = Store(tmp_path)
    together.append_all(records)
    assert sorted(names(together.records())) == sorted(names(records))
    assert len(list(tmp_path.glob("paper/*.jsonl"))) > 4
    assert max(path.stat().st_size for path in tmp_path.glob("paper/*.jsonl")) < 4000


def test_compacting_is_a_function_of_the_records(tmp_path: Path) -> None:
    records = [make_record(f"k{i}", trial=i) for i in range(5)]
    failed = make_record("k0", status="crash", test_f1=None, finished="2023-01-01T00:00:00.000Z")
    for name, order in (("a", [failed, *records]), ("b", [*reversed(records), failed])):
        for record in order:
            Store(tmp_path / name).append(record)
        compact(Store(tmp_path / name))
    a, b = (tmp_path / name / "paper" / "iris.jsonl.gz" for name in "ab")
    assert a.read_bytes() == b.read_bytes()
    assert len(content_of(a).splitlines()) == 5


def test_merging_twice_or_in_another_order_changes_nothing(tmp_path: Path) -> None:
    first, second = Store(tmp_path / "1"), Store(tmp_path / "2")
    first.append(make_record("shared", status="timeout", test_f1=None))
    first.append(make_record("one"))
    second.append(make_record("shared"))
    second.append(make_record("two", dataset="zoo"))
    second.append_environment({"id": "elsewhere", "versions": {}, "machine": {}})
    here, there = Store(tmp_path / "12"), Store(tmp_path / "21")
    tallies = [merge(first, here), merge(second, here), merge(second, here)]
    assert [(t.new, t.newer, t.known) for t in tallies] == [(2, 0, 0), (1, 1, 0), (0, 0, 2)]
    merge(second, there)
    merge(first, there)
    assert here.latest() == there.latest()
    assert here.latest()[make_record("shared").key].status == "ok"
    assert "elsewhere" in here.environments()


def test_the_frame_has_one_row_per_key(tmp_path: Path) -> None:
    Store(tmp_path).append(make_record("a", status="error", test_f1=None))
    Store(tmp_path).append(make_record("a"))
    Store(tmp_path).append(make_record("b", dataset="zoo"))
    frame = Store(tmp_path).frame()
    assert [params["name"] for params in frame["params"]] == ["a", "b"]
    assert list(frame["status"]) == ["ok", "ok"]
    assert frame["params"][0]["max_depth"] == 3


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from test_runner_store import make_record
from experiments.core.store import Store
for i in range(100):
    Store(sys.argv[1]).append(make_record(f"{sys.argv[2]}-{i}", reason="x" * 500))
"""


def test_several_processes_append_at_once(tmp_path: Path) -> None:
    here = str(Path(__file__).parent)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), str(n), here], env=python_environment()
        )
        for n in range(3)
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert len(Store(tmp_path).latest()) == 300
    assert Store(tmp_path).contents().torn == 0


def test_appending_costs_the_same_in_a_large_store(tmp_path: Path) -> None:
    large = tmp_path / "large" / "paper" / "iris.jsonl"
    large.parent.mkdir(parents=True)
    line = json.dumps(make_record().to_dict()) + "\n"
    large.write_text(line * 1500)

    def fastest(folder: Path) -> float:
        target, seconds = Store(folder), []
        for i in range(60):
            began = time.process_time()
            target.append(make_record(f"n{i}"))
            seconds.append(time.process_time() - began)
        return min(seconds)

    # The fastest of many, by the processor: what an append costs, not what the disk was doing.
    assert fastest(tmp_path / "large") < 5 * fastest(tmp_path / "small")


def test_to_dict_keeps_what_is_required_even_when_falsy() -> None:
    record = make_record(params={}, trial=0)
    assert checked(record.to_dict()) == record
