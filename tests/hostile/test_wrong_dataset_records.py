"""Promises about records of datasets: a wrong one harms no other, and no name in one leaves its
folder or becomes an option of a program.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from hostile_data import UCI, UNUSABLE, facts

from datasets import (
    DataWarning,
    RecordError,
    SourceError,
    UnknownDatasetError,
    all_records,
    broken_records,
    cache,
    paper_datasets,
    record,
    registry,
)
from datasets.files import stays_inside
from datasets.record_file import parse_record
from datasets.sources import packages
from datasets.sources.packages import parse_carrier

pytestmark = pytest.mark.usefixtures("sample")

# A wrong record is reported and left out, and harms no other.


WRONG = {
    "no TOML": b"name = ",
    "not UTF-8": b'name = "\xff"',
    "empty": b"",
    "deep": b"x = " + b"[" * 5000,
    "a key misspelt": b'nmae = "x"',
    "a number for a text": b"name = 5",
    "classes that are none": b"classes = 5",
}


@pytest.fixture
def records_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the suite's records that a test may spoil."""
    folder = tmp_path / "records"
    folder.mkdir()
    for path in registry.RECORDS.glob("*.toml"):
        (folder / path.name).write_bytes(path.read_bytes())
    monkeypatch.undo()
    monkeypatch.setattr(registry, "RECORDS", folder)
    return folder


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_record_is_reported_and_left_out(kind: str, records_folder: Path) -> None:
    (records_folder / "mine.toml").write_bytes(WRONG[kind])
    with pytest.warns(DataWarning, match="record left out: mine"):
        assert "mine" not in all_records()
    assert list(broken_records()) == ["mine"]
    assert len(paper_datasets()) == 36
    assert record("titanic").n_rows == 891
    with pytest.raises(RecordError, match="mine"):
        record("mine")
    with pytest.raises(UnknownDatasetError):
        record("mime")


@pytest.mark.parametrize("kind", ["pipe", "folder", "10 GB", "device"])
def test_a_record_that_is_no_file_is_reported_and_left_out(kind: str, records_folder: Path) -> None:
    UNUSABLE[kind][0](records_folder / "mine.toml")
    with pytest.warns(DataWarning, match="record left out: mine"):
        assert len(paper_datasets()) == 36
    assert list(broken_records()) == ["mine"]


def test_a_broken_record_of_the_paper_leaves_the_other_35(records_folder: Path) -> None:
    (records_folder / "wine.toml").write_bytes(b"oops")
    with pytest.warns(DataWarning, match="record left out: wine"):
        assert len(paper_datasets()) == 35


def test_nobody_enlarges_the_papers_36(records_folder: Path) -> None:
    text = (records_folder / "wine.toml").read_text(encoding="utf-8")
    (records_folder / "wine-two.toml").write_text(text, encoding="utf-8")
    assert "wine-two" in all_records()
    assert "wine-two" not in paper_datasets()
    (records_folder / "wine-three.toml").write_text(f"in_paper = true\n{text}", encoding="utf-8")
    registry._scanned.cache_clear()
    with pytest.warns(DataWarning, match="in_paper = true, but paper.toml does not list it"):
        assert len(paper_datasets()) == 36


# Names in records stay in their folder, and do not become options of programs.


OUTSIDE = ["../x", "/etc/passwd", "a/../../x", "..\\x", "C:/x", "C:x", "", "a\0b", ".."]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_name_that_leaves_its_folder_is_refused(name: str) -> None:
    assert not stays_inside(name)
    good = {"kind": "installed", "where": "sklearn"}
    for changes in (
        {"files": {name: "0" * 64}},
        {"sources": [{**good, "members": [name]}]},
        {"sources": [{**UCI, "members": [f"a.zip!{name}"]}]},
        {"sources": [{**UCI, "permutation": name}]} if name else {"files": {name: "0" * 64}},
    ):
        with pytest.raises(RecordError, match="leaves its folder"):
            parse_record("sample", facts(**changes))


@pytest.mark.parametrize("name", ["x.csv", "a/b.csv", "a..b", "a/...", "x y.csv"])
def test_ordinary_names_are_allowed(name: str) -> None:
    assert stays_inside(name)


@pytest.mark.parametrize("slug", ["../x", "X", "a--b", "-a", "a_b", "a b", "", "a/b", ".a"])
def test_a_record_is_called_by_a_slug(slug: str) -> None:
    with pytest.raises(RecordError, match="lower-case words joined by hyphens"):
        parse_record(slug, facts())


@pytest.mark.parametrize(
    "source",
    [
        {"kind": "installed", "where": "os.path"},
        {"kind": "installed", "where": "../x"},
        {"kind": "uci", "where": "1/x@evil.example.org"},
        {"kind": "uci", "where": "../../x"},
        {"kind": "openml", "where": "-1"},
        {"kind": "package", "where": "--index-url=x"},
    ],
)
def test_a_source_that_names_something_else_is_refused(source: dict[str, Any]) -> None:
    with pytest.raises(RecordError, match="names no"):
        parse_record("sample", facts(sources=[source]))


CARRIER = {"requirement": "x==1", "wheel": "x-1-py3-none-any.whl", "sha256": "0" * 64}


@pytest.mark.parametrize(
    "changes",
    [
        {"requirement": "--index-url=http://x"},
        {"requirement": "x"},
        {"requirement": "x==1 --pre"},
        {"wheel": "../x.whl"},
        {"wheel": "x.tar.gz"},
        {"sha256": ""},
        {"tags": {"dest": "/"}},
        {"tags": {"platform": "--x"}},
        {"extra": 1},
    ],
)
def test_a_carrier_does_not_become_an_option_of_pip(changes: dict[str, Any]) -> None:
    parse_carrier("x", CARRIER)
    with pytest.raises(RecordError, match=r"carriers\.toml, x"):
        parse_carrier("x", {**CARRIER, **changes})


@pytest.mark.parametrize("content", [b"[x]\nwheel = 5\n", b"oops", b"\xff", b"x = 5"])
def test_a_wrong_list_of_carriers_makes_its_sources_unusable(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "carriers.toml").write_bytes(content)
    monkeypatch.setattr(packages, "CARRIERS", tmp_path / "carriers.toml")
    packages._listed.cache_clear()
    with pytest.raises(SourceError, match=r"carriers\.toml"):
        packages.carrier("x")


# Many processes and threads at once do not step on each other's files.


def test_temporary_names_are_never_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[str] = []
    replace = Path.replace
    monkeypatch.setattr(
        Path, "replace", lambda self, target: (used.append(str(self)), replace(self, target))[1]
    )
    shared = cache.Cache(tmp_path / "shared")
    threads = [threading.Thread(target=shared.store, args=("a/x", b"1" * 1000)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(used)) == 20
    assert [path.name for path in (tmp_path / "shared" / "a").iterdir()] == ["x"]
