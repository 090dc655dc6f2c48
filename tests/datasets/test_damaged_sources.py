"""Promises about sources: archives damaged in any byte or made to harm, files that are none, and
downloads without end give the right table or are refused by name, and the next source is tried.
"""

import io
import random
import struct
import time
import warnings
import zipfile
from collections.abc import Iterable

import pytest
from datasets_support import ROWS, UNUSABLE, load_from, zipped

from datasets import (
    DatasetUnavailable,
    RefusedError,
    SourceError,
    load_dataset,
    loading,
)
from datasets.files import read_file
from datasets.sources import uci
from datasets.sources.uci import fetch

pytestmark = pytest.mark.usefixtures("sample")

# An archive that was made to harm is refused before it does.


def with_bytes(archive: bytes, signature: bytes, offset: int, value: bytes) -> bytes:
    """Overwrite a field of every header that starts with ``signature``."""
    changed = bytearray(archive)
    place = archive.find(signature)
    while place >= 0:
        changed[place + offset : place + offset + len(value)] = value
        place = archive.find(signature, place + 4)
    return bytes(changed)


GOOD = zipped({"data/sample.csv": ROWS})
BOMB = zipped({"data/sample.csv": b"0" * 10**8})
SMALLER_BOMB = zipped({"x.csv": b"0" * 6 * 10**7})
HARMFUL = {
    "a bomb": BOMB,
    "a bomb that lies about its size": with_bytes(BOMB, b"PK\x01\x02", 24, struct.pack("<I", 10)),
    "many bombs": zipped({f"{i}.zip": SMALLER_BOMB for i in range(9)}),
    "archives in archives": zipped({"a.zip": zipped({"b.zip": zipped({"c.zip": GOOD})})}),
    "a password": with_bytes(
        with_bytes(GOOD, b"PK\x01\x02", 8, b"\x01"), b"PK\x03\x04", 6, b"\x01"
    ),
    "an unknown method": with_bytes(GOOD, b"PK\x01\x02", 10, b"\x63"),
    "LZMA": zipped({"sample.csv": ROWS}, zipfile.ZIP_LZMA),
    "BZIP2": zipped({"sample.csv": ROWS}, zipfile.ZIP_BZIP2),
    "a version of the future": with_bytes(GOOD, b"PK\x01\x02", 6, b"\xff"),
    "a name that is no text": with_bytes(
        with_bytes(GOOD, b"PK\x01\x02", 9, b"\x08"), b"PK\x01\x02", 46, b"\xff\xfe"
    ),
    "only the end": GOOD[-22:],
    "nothing": b"",
}


@pytest.mark.parametrize("kind", HARMFUL)
@pytest.mark.filterwarnings("ignore::datasets.DataWarning")
def test_a_harmful_archive_is_refused(kind, monkeypatch):
    with pytest.raises(DatasetUnavailable, match="UCI 7/sample: ") as caught:
        load_from(HARMFUL[kind], monkeypatch)
    assert len(str(caught.value)) < 1000


# Whatever byte of an archive is damaged: the right table, or the source is refused.


def corpus() -> list[bytes]:
    inner = zipped({"sample.csv": ROWS})
    members = {"readme.txt": b"hello", "data/": b"", "data/sample.csv": ROWS}
    return [
        zipped(members),
        zipped(members, zipfile.ZIP_STORED),
        zipped({"sample.csv": ROWS}, zipfile.ZIP_LZMA),
        zipped({"sample.csv": ROWS}, zipfile.ZIP_BZIP2),
        zipped({"Sample.zip": inner}),
        zipped({"Sämple.zip": inner}, zipfile.ZIP_STORED),
    ]


EXTREMES = [b"\x00", b"\xff", b"\x7f", b"\x80", b"\x01", b"\x08", b"\x0c", b"\x0e", b"\x63"]


def mutated(archive: bytes, draw: random.Random) -> bytes:
    """One to four changes, most of them among the headers, where they do most."""
    changed = bytearray(archive)
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        if not changed:
            break
        headers = [changed.find(mark) for mark in (b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06")]
        near = [place for place in headers if place >= 0]
        place = draw.randrange(len(changed))
        if near and draw.random() < 0.6:
            place = min(draw.choice(near) + draw.randrange(50), len(changed) - 1)
        match draw.randrange(7):
            case 0:
                changed[place] ^= 1 << draw.randrange(8)
            case 1:
                changed[place : place + 1] = draw.choice(EXTREMES)
            case 2:
                run = draw.choice((2, 4, 8))
                changed[place : place + run] = draw.choice(EXTREMES) * run
            case 3:
                del changed[place:]
            case 4:
                del changed[place : place + draw.randrange(1, 40)]
            case 5:
                other = draw.randrange(len(changed))
                changed[place:place] = changed[other : other + draw.randrange(1, 60)]
            case 6:
                changed[place : place + 8] = draw.randbytes(8)
    return bytes(changed)


def fuzz(
    archives: Iterable[bytes], sample: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, int]:
    """How many archives gave the table, and how many were refused; nothing else may be."""
    monkeypatch.setattr(loading.Cache, "store_table", lambda *_: None)
    loaded = refused = 0
    for number, archive in enumerate(archives):
        try:
            table = load_from(archive, monkeypatch).table
        except DatasetUnavailable:
            refused += 1
        else:
            assert table.content_hash == sample, number
            loaded += 1
    return loaded, refused


@pytest.mark.filterwarnings("ignore::datasets.DataWarning")
def test_4000_damaged_archives(sample, monkeypatch, tmp_path):
    good = corpus()
    damaged = (mutated(good[seed % len(good)], random.Random(seed)) for seed in range(4000))
    loaded, refused = fuzz(damaged, sample, monkeypatch)
    assert min(loaded, refused) > 400, "the mutations neither all harmless nor all fatal"
    assert not (tmp_path / "cache").exists()


@pytest.mark.filterwarnings("ignore::datasets.DataWarning")
def test_500_damaged_files_inside_a_good_archive(sample, monkeypatch):
    contents = (mutated(ROWS, random.Random(seed)) for seed in range(500))
    damaged = (zipped({"sample.csv": content}, zipfile.ZIP_STORED) for content in contents)
    refused = fuzz(damaged, sample, monkeypatch)[1]
    assert refused > 400, "hardly any change leaves the values as they were"


# Only files of a sensible size are read.


@pytest.mark.parametrize("kind", UNUSABLE)
def test_the_next_source_is_tried_at_once_after_an_unusable_mirror_and_cache(
    kind, tmp_path, sample, monkeypatch
):
    make = UNUSABLE[kind]
    (tmp_path / "mirror" / "sample").mkdir(parents=True)
    (tmp_path / "cache" / "tables").mkdir(parents=True)
    make(tmp_path / "mirror" / "sample" / "sample.csv")
    make(tmp_path / "cache" / "tables" / f"sample-{sample[:16]}.table")
    monkeypatch.setattr(uci, "fetch", lambda address: zipped({"sample.csv": ROWS}))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert load_dataset("sample", tmp_path / "mirror").source == "UCI 7/sample"
    said = [str(one.message) for one in caught if "is larger than 256 MB" in str(one.message)]
    assert len(said) == 2 * (kind == "10 GB")


def test_a_file_that_grows_beyond_the_limit_is_refused(tmp_path):
    (tmp_path / "x").write_bytes(b"12345")
    assert read_file(tmp_path / "x", limit=5) == b"12345"
    with pytest.raises(RefusedError, match="larger than"):
        read_file(tmp_path / "x", limit=4)


@pytest.mark.filterwarnings("ignore::datasets.DataWarning")
def test_a_folder_one_may_not_look_into_is_passed_over(tmp_path):
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

    def __enter__(self) -> "Reply":
        return self


def test_a_download_without_end_is_stopped(monkeypatch):
    class Endless(Reply):
        def read1(self, size: int | None = -1, /) -> bytes:
            return b"x" * (size or 1)

    monkeypatch.setattr(uci.urllib.request, "urlopen", lambda *_, **__: Endless())
    monkeypatch.setattr(uci, "LARGEST_FILE", 10**6)
    with pytest.raises(RefusedError, match="larger than any dataset"):
        fetch("http://example.org/x")


def test_a_download_that_drips_is_stopped(monkeypatch):
    class Dripping(Reply):
        def read1(self, size: int | None = -1, /) -> bytes:
            time.sleep(0.01)
            return b"x"

    monkeypatch.setattr(uci.urllib.request, "urlopen", lambda *_, **__: Dripping())
    monkeypatch.setattr(uci, "LONGEST_SECONDS", 0.05)
    monkeypatch.setattr(uci, "PAUSES_SECONDS", (0.0,))
    with pytest.raises(SourceError, match="not complete after"):
        fetch("http://drip.example.org/x")


def test_a_nonsensical_length_is_no_crash(monkeypatch):
    class Odd(Reply):
        headers = {"Content-Length": "-٣x"}  # noqa: RUF012

    monkeypatch.setattr(uci.urllib.request, "urlopen", lambda *_, **__: Odd(b"abc"))
    assert fetch("http://odd.example.org/x") == b"abc"
