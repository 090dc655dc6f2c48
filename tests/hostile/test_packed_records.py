"""Promises about packed files of records: the same records, and damage that is named."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from test_runner_store import make_record

from experiments.core import files
from experiments.core.checks import UserError
from experiments.core.merging import compact
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
    contents = Store(packed.parents[1]).contents()
    assert contents.history == []
    assert contents.problems == [f"{packed}: larger than 0 MB when unpacked"]


def test_compacting_refuses_a_damaged_file_and_keeps_everything(packed: Path) -> None:
    store = Store(packed.parents[1])
    store.append(make_record(trial=20))
    packed.write_bytes(packed.read_bytes()[:-20])
    before = {path: path.read_bytes() for path in store.files()}
    with pytest.raises(UserError, match=r"iris\.jsonl\.gz: a damaged file .* bring it back"):
        compact(store)
    assert {path: path.read_bytes() for path in store.files()} == before
