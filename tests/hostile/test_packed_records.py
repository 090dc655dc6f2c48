"""Promises about packed files of records: the same records, and damage that is named."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tables_support import job
from test_runner_store import make_record

from experiments.core import files
from experiments.core import store as store_module
from experiments.core.checks import UserError
from experiments.core.job import Job
from experiments.core.merging import compact
from experiments.core.planned import PACKED_PLAN, PLANNED, add_plan, read_plan
from experiments.core.store import Store

MUTATIONS = 400


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """A compact store of twenty records in one packed file, without hashes that vouch for it."""
    store = Store(tmp_path / "store")
    for trial in range(20):
        store.append(make_record(trial=trial))
    before = store.records()
    compact(store)
    assert store.records() == before
    (path,) = store.files()
    (store.folder / "hashes.csv").unlink()
    return path


def test_compacting_packs_and_appending_goes_on_beside(packed: Path) -> None:
    assert packed.name == "iris.jsonl.gz"
    store = Store(packed.parents[1])
    store.append(make_record(trial=20))
    assert [path.name for path in store.files()] == ["iris.jsonl", "iris.jsonl.gz"]
    assert len(store.records()) == 21
    compact(store)
    assert [path.name for path in store.files()] == ["iris.jsonl.gz"]
    assert len(store.records()) == 21


def test_the_same_records_are_the_same_bytes(packed: Path) -> None:
    content = packed.read_bytes()
    compact(Store(packed.parents[1]))
    assert packed.read_bytes() == content


def test_damage_is_named_or_harmless(packed: Path) -> None:
    """A byte changed, removed or added anywhere."""
    draws = random.Random(0)
    whole, store = packed.read_bytes(), Store(packed.parents[1])
    records = store.records()
    named = 0
    for _ in range(MUTATIONS):
        content = bytearray(whole)
        at = draws.randrange(len(content))
        match draws.randrange(3):
            case 0:
                content[at] ^= 1 << draws.randrange(8)
            case 1:
                del content[at : at + draws.randrange(1, 50)]
            case 2:
                content[at:at] = draws.randbytes(3)
        packed.write_bytes(content)
        contents = store.contents()
        named += bool(contents.problems)
        assert contents.problems or store.records() == records
        assert all(str(packed) in problem for problem in contents.problems)
    assert named > MUTATIONS // 2


def test_a_packed_file_that_grows_beyond_the_limit_is_not_read(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGEST_FILE", packed.stat().st_size + 1)
    monkeypatch.setattr(store_module, "_faultless", {})  # as in a process that has read nothing
    contents = Store(packed.parents[1]).contents()
    assert contents.history == []
    assert contents.problems == [f"{packed}: larger than 0 MB when unpacked"]


def test_a_packed_file_is_parsed_once_and_again_when_it_has_changed(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "_faultless", {})
    parsed: list[Path] = []

    def noting(path: Path) -> files.Lines:
        parsed.append(path)
        return files.read_lines(path)

    monkeypatch.setattr(store_module, "read_lines", noting)
    store = Store(packed.parents[1])
    records = store.records()
    assert store.records() == records
    assert parsed.count(packed) == 1
    lines = [record.to_dict() for record in records]
    files.replace_lines(packed, [*lines[1:], {"key": "no record"}])
    for _ in range(2):  # what has a fault is named every time
        contents = store.contents()
        assert len(contents.history) == len(records) - 1
        assert f"{packed}:{len(records)}: no protocol" in contents.problems
    assert parsed.count(packed) == 3


def test_compacting_refuses_a_damaged_file_and_keeps_everything(packed: Path) -> None:
    store = Store(packed.parents[1])
    store.append(make_record(trial=20))
    packed.write_bytes(packed.read_bytes()[:-20])
    before = {path: path.read_bytes() for path in store.files()}
    with pytest.raises(UserError, match=r"iris\.jsonl\.gz: a damaged file .* bring it back"):
        compact(store)
    assert {path: path.read_bytes() for path in store.files()} == before


# The plan is packed like the records, and what is planned later stands beside it.


def cart(trial: int, **fields: str) -> Job:
    return job("tuned", "iris", "cart", trial, **fields)


@pytest.fixture
def planned(tmp_path: Path) -> Path:
    """A compact store that was asked for three trials of one job."""
    add_plan(tmp_path, [cart(trial=trial) for trial in range(3)])
    compact(Store(tmp_path))
    (tmp_path / "hashes.csv").unlink()
    return tmp_path


def test_what_is_planned_later_counts_until_and_after_it_is_packed(planned: Path) -> None:
    assert not (planned / PLANNED).exists()
    assert sorted(job.trial for job in read_plan(planned)) == [0, 1, 2]
    newer = cart(trial=1, method_version="2")
    add_plan(planned, [cart(trial=0), newer, cart(trial=3)])
    both = {job.key for job in read_plan(planned)}
    assert newer.key in both
    assert sorted(job.trial for job in read_plan(planned)) == [0, 1, 2, 3]
    compact(Store(planned))
    assert not (planned / PLANNED).exists()
    assert {job.key for job in read_plan(planned)} == both


def test_a_kill_before_the_old_lines_are_gone_changes_no_plan(planned: Path) -> None:
    add_plan(planned, [cart(trial=1, method_version="2")])
    old, wanted = (planned / PLANNED).read_bytes(), {job.key for job in read_plan(planned)}
    compact(Store(planned))
    (planned / PLANNED).write_bytes(old)
    assert {job.key for job in read_plan(planned)} == wanted


def test_a_damaged_plan_is_named_and_not_packed_over(planned: Path) -> None:
    path = planned / PACKED_PLAN
    path.write_bytes(path.read_bytes()[:-20])
    damaged = path.read_bytes()
    problems: list[str] = []
    assert read_plan(planned, problems) == []
    assert problems[0].startswith(f"{path}: a damaged file")
    with pytest.raises(UserError, match=r"planned\.jsonl\.gz: a damaged file .* bring it back"):
        compact(Store(planned))
    assert path.read_bytes() == damaged
