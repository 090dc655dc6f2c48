"""Promises about files and downloads: what is not what it should be is named, and the next
source tried.

A source may be a pipe, a device, a folder or ten gigabytes, and a server may send for ever. None
of it ends a command, waits for ever or fills the memory.
"""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from hostile_data import ROWS, UNUSABLE, zipped

from datasets import DatasetUnavailable, DataWarning, RefusedError, SourceError, load_dataset
from datasets.files import read_file
from datasets.sources import uci
from datasets.sources.uci import fetch

pytestmark = pytest.mark.usefixtures("sample")

# Only regular files of a sensible size are read.


@pytest.mark.parametrize("kind", UNUSABLE)
def test_what_is_no_regular_file_is_named_at_once(kind: str, tmp_path: Path) -> None:
    make, complaint = UNUSABLE[kind]
    make(tmp_path / "x")
    started = time.monotonic()
    with pytest.raises(RefusedError, match=complaint):
        read_file(tmp_path / "x")
    assert time.monotonic() - started < 1


@pytest.mark.parametrize("kind", UNUSABLE)
def test_the_next_source_is_tried_after_an_unusable_mirror_and_cache(
    kind: str, tmp_path: Path, sample: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, complaint = UNUSABLE[kind]
    (tmp_path / "mirror" / "sample").mkdir(parents=True)
    (tmp_path / "cache" / "tables").mkdir(parents=True)
    make(tmp_path / "mirror" / "sample" / "sample.csv")
    make(tmp_path / "cache" / "tables" / f"sample-{sample[:16]}.table")
    monkeypatch.setattr(uci, "fetch", lambda address: zipped({"sample.csv": ROWS}))
    with pytest.warns(DataWarning) as caught:
        loaded = load_dataset("sample", tmp_path / "mirror")
    assert loaded.source == "UCI 7/sample"
    said = [str(one.message) for one in caught]
    if kind != "link to itself":  # which counts as no file in a mirror
        assert any("mirror" in text and complaint in text for text in said)
    assert any("cache" in text and complaint in text for text in said)


def test_a_file_that_grows_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"12345")
    assert read_file(tmp_path / "x", limit=5) == b"12345"
    with pytest.raises(RefusedError, match="larger than"):
        read_file(tmp_path / "x", limit=4)


@pytest.mark.filterwarnings("ignore::datasets.DataWarning")
def test_a_folder_one_may_not_look_into_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "mirror" / "sample").mkdir(parents=True)
    (tmp_path / "mirror").chmod(0)
    try:
        with pytest.raises(DatasetUnavailable):
            load_dataset("sample", tmp_path / "mirror")
    finally:
        (tmp_path / "mirror").chmod(0o700)


# A server that sends for ever, or too much, is left.


class Reply(io.BytesIO):
    headers: dict[str, str] = {}  # noqa: RUF012

    def __enter__(self) -> Reply:
        return self


def test_a_download_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(Reply):
        def read1(self, size: int | None = -1, /) -> bytes:
            return b"x" * (size or 1)

    monkeypatch.setattr(uci.urllib.request, "urlopen", lambda *_, **__: Endless())
    monkeypatch.setattr(uci, "LARGEST_FILE", 10**6)
    with pytest.raises(RefusedError, match="larger than any dataset"):
        fetch("http://example.org/x")


def test_a_download_that_drips_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dripping(Reply):
        def read1(self, size: int | None = -1, /) -> bytes:
            time.sleep(0.01)
            return b"x"

    monkeypatch.setattr(uci.urllib.request, "urlopen", lambda *_, **__: Dripping())
    monkeypatch.setattr(uci, "LONGEST_SECONDS", 0.05)
    monkeypatch.setattr(uci, "PAUSES_SECONDS", (0.0,))
    with pytest.raises(SourceError, match="not complete after"):
        fetch("http://drip.example.org/x")


def test_a_nonsensical_length_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    class Odd(Reply):
        headers = {"Content-Length": "-٣x"}  # noqa: RUF012

    monkeypatch.setattr(uci.urllib.request, "urlopen", lambda *_, **__: Odd(b"abc"))
    assert fetch("http://odd.example.org/x") == b"abc"
