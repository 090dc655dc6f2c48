"""Promises about the manifest of hashes: what was altered in a committed store is noticed, and what
was added is named.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from hostile_data import UNUSABLE
from hostile_store import copy_store
from test_runner_store import make_record

from experiments.__main__ import main
from experiments.analysis import verifying
from experiments.commands import verify
from experiments.core import manifest
from experiments.core.files import append_line
from experiments.core.store import COMMITTED, Store


def test_480_scores_raised_by_a_hundredth_are_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = copy_store(tmp_path / "store", trials=range(10))
    raised = 0
    for path in sorted(store.glob("*/*.jsonl")):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines:
            if raised < 480 and (line.get("test_f1") or 1) <= 0.99:
                line["test_f1"] += 0.01
                raised += 1
        path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
        if raised == 480:
            break
    assert raised == 480
    monkeypatch.setattr(verify, "COMMITTED", store)
    monkeypatch.setattr(verifying, "FOLDER", tmp_path / "nothing accepted")
    assert main(["verify", "--store", str(store)]) == 1
    said = capsys.readouterr()
    assert re.search(r"Files that are not as committed: \d: clean/iris.jsonl", said.out)
    assert "iris.jsonl: not as hashes.csv says" in said.err
    status = main(["merge", "--compact", "--into", str(store)])
    assert status == 2, "compacting would vouch for the altered scores"
    assert "clean/iris.jsonl" in capsys.readouterr().err


def test_the_committed_records_are_as_their_manifest_says() -> None:
    assert manifest.changes(COMMITTED) == manifest.Changes([], [])
    assert Store(COMMITTED).contents().problems == []


MANIFESTS = [b"", b"\xff", b"file,sha256,bytes\n../../x,0,0\n", b"file,sha256,bytes\na,b\n", b"\0"]


@pytest.mark.parametrize("content", MANIFESTS)
def test_a_damaged_manifest_is_named(content: bytes, pristine: Path, tmp_path: Path) -> None:
    store = shutil.copytree(pristine, tmp_path / "store")
    (store / manifest.HASHES).write_bytes(content)
    assert Store(store).contents().problems == [f"{store / 'hashes.csv'}: not as hashes.csv says"]


@pytest.mark.parametrize("kind", ["pipe", "folder", "10 GB", "link to itself"])
def test_a_manifest_that_is_no_file_is_named(kind: str, pristine: Path, tmp_path: Path) -> None:
    store = shutil.copytree(pristine, tmp_path / "store")
    (store / manifest.HASHES).unlink()
    UNUSABLE[kind][0](store / manifest.HASHES)
    assert Store(store).contents().problems == [f"{store / 'hashes.csv'}: not as hashes.csv says"]


def test_committed_records_without_a_manifest_are_told(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verify, "COMMITTED", store)
    monkeypatch.setattr(verifying, "FOLDER", store / "nothing accepted")
    assert main(["verify", "--store", str(store)]) == 1
    assert "hashes.csv is missing" in capsys.readouterr().out


def test_what_a_run_adds_is_no_alteration(pristine: Path, tmp_path: Path) -> None:
    store = shutil.copytree(pristine, tmp_path / "store")
    Store(store).append(make_record("new", dataset="iris"))
    Store(store).append(make_record("new", dataset="wine"))
    found = manifest.changes(store)
    assert found is not None
    assert found.altered == []
    assert sorted(found.added_to) == ["paper/iris.jsonl", "paper/wine.jsonl"]


def test_a_forged_plan_is_named_by_every_verb_that_shows_tables(
    pristine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It shows known records as those of an experiment to which they do not belong."""
    store = shutil.copytree(pristine, tmp_path / "store")
    lines = [json.loads(line) for line in (store / "planned.jsonl").read_text().splitlines()]
    append_line(store / "planned.jsonl", {**lines[0], "experiment": "invented"})
    told = "Added to since hashes.csv was written: 1 files: planned.jsonl."
    for words in (
        ["tables", "--output", str(tmp_path)],
        ["status", "--profile", "smoke", "--dataset", "iris"],
        ["verify"],
    ):
        main([words[0], "--store", str(store), *words[1:]])
        assert told in capsys.readouterr().out, words


@pytest.mark.parametrize("name", ["planned", "datasets", "learners", "environments"])
def test_what_lies_beside_the_records_is_vouched_for_too(
    name: str, pristine: Path, tmp_path: Path
) -> None:
    store = shutil.copytree(pristine, tmp_path / "store")
    first, *rest = (store / f"{name}.jsonl").read_bytes().splitlines(keepends=True)
    (store / f"{name}.jsonl").write_bytes(b"".join(rest) or first[1:])
    assert f"{store / name}.jsonl: not as hashes.csv says" in Store(store).contents().problems
