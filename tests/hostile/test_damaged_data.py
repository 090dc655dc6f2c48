"""Promises about data: what is not what it should be is named, left, and the next source tried.

A source may be a pipe, a device, a folder or ten gigabytes; an archive may be damaged in any
byte or made to harm; a record may be wrong. None of it ends a command, waits for ever, fills
the memory or writes outside its folder, and only the table of the record is ever returned.
"""

from __future__ import annotations

import hashlib
import io
import os
import random
import shutil
import socket
import struct
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from datasets import (
    Dataset,
    DatasetUnavailable,
    DataWarning,
    RecordError,
    RefusedError,
    SourceError,
    UnknownDatasetError,
    all_records,
    archives,
    broken_records,
    cache,
    carriers,
    load_dataset,
    loading,
    paper_datasets,
    record,
    registry,
)
from datasets.carriers import parse_carrier
from datasets.files import read_file, stays_inside
from datasets.readers import read_table
from datasets.record_file import parse_record
from datasets.sources import download, uci

ROWS = b"".join(
    b"%d,%s,%s\n" % (i * 7 % 23, b"rgb"[i % 3 :][:1], b"yn"[i % 2 :][:1]) for i in range(40)
)
UCI = {"kind": "uci", "where": "7/sample", "exercised": False}


def facts(**changes: Any) -> dict[str, Any]:
    return {
        "name": "Sample",
        "task": "binary",
        "link": "https://example.org/sample",
        "citation": "Nobody (2000). Sample.",
        "licence": "CC0",
        "n_rows": 40,
        "n_features": 2,
        "content_hash": "0" * 64,
        "columns": ["size", "colour", "kind"],
        "label": "kind",
        "categorical": ["colour"],
        "classes": [{"name": "y", "rows": 20}, {"name": "n", "rows": 20}],
        "files": {"sample.csv": hashlib.sha256(ROWS).hexdigest()},
        **changes,
    }


@pytest.fixture(autouse=True)
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The one dataset of a registry, on a fresh machine; its content hash."""
    plain = parse_record("sample", facts())
    content_hash = read_table(plain, [ROWS], plain.layout).content_hash
    entry = parse_record("sample", facts(content_hash=content_hash, sources=[UCI]))
    monkeypatch.setattr(registry, "_records", lambda: {"sample": entry})
    monkeypatch.setattr(uci, "fetch", _unreachable)
    monkeypatch.setenv("GRADTREE_CACHE", str(tmp_path / "cache"))
    for name in ("GRADTREE_DATA", "GRADTREE_SOURCES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cache, "_spare_folders", [])
    loading._load.cache_clear()
    yield content_hash
    loading._load.cache_clear()


def _unreachable(address: str) -> bytes:
    raise SourceError("no network in this test")


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return buffer.getvalue()


def load_from(archive: bytes, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """Load the sample from an archive as the UCI server would send it, without a cache."""
    monkeypatch.setattr(uci, "fetch", lambda address: archive)
    loading._load.cache_clear()
    return load_dataset("sample", sources=["uci"])


# Only regular files of a sensible size are read.


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as made:
        made.bind(f"{short}/s")  # the path of a socket must be short, and the test's is not
        shutil.move(f"{short}/s", path)


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_folder(path: Path) -> None:
    path.mkdir()


def make_huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10 * 2**30)


def make_loop(path: Path) -> None:
    path.symlink_to(path)


UNUSABLE: dict[str, tuple[Callable[[Path], None], str]] = {
    "pipe": (make_pipe, "is a pipe, not a regular file"),
    "socket": (make_socket, "is a socket, not a regular file"),
    "device": (make_device, "is a device, not a regular file"),
    "folder": (make_folder, "is a folder, not a regular file"),
    "10 GB": (make_huge, "is larger than 256 MB"),
    "link to itself": (make_loop, "cannot be read"),
}


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

    monkeypatch.setattr(download.urllib.request, "urlopen", lambda *_, **__: Endless())
    monkeypatch.setattr(download, "LARGEST_FILE", 10**6)
    with pytest.raises(RefusedError, match="larger than any dataset"):
        download.fetch("http://example.org/x")


def test_a_download_that_drips_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dripping(Reply):
        def read1(self, size: int | None = -1, /) -> bytes:
            time.sleep(0.01)
            return b"x"

    monkeypatch.setattr(download.urllib.request, "urlopen", lambda *_, **__: Dripping())
    monkeypatch.setattr(download, "LONGEST_SECONDS", 0.05)
    monkeypatch.setattr(download, "PAUSES_SECONDS", (0.0,))
    with pytest.raises(SourceError, match="not complete after"):
        download.fetch("http://drip.example.org/x")


def test_a_nonsensical_length_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    class Odd(Reply):
        headers = {"Content-Length": "-٣x"}  # noqa: RUF012

    monkeypatch.setattr(download.urllib.request, "urlopen", lambda *_, **__: Odd(b"abc"))
    assert download.fetch("http://odd.example.org/x") == b"abc"


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
HARMFUL = {
    "a bomb": BOMB,
    "a bomb that lies about its size": with_bytes(BOMB, b"PK\x01\x02", 24, struct.pack("<I", 10)),
    "many bombs": zipped({f"{i}.zip": zipped({"x.csv": b"0" * 6 * 10**7}) for i in range(9)}),
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
    "a member outside": zipped({"../sample.csv": ROWS}),
    "a member at the root": zipped({"/etc/sample.csv": ROWS}),
    "a member on a drive": zipped({"C:\\sample.csv": ROWS}),
    "only the end": GOOD[-22:],
    "nothing": b"",
}


@pytest.mark.parametrize("kind", HARMFUL)
@pytest.mark.filterwarnings("ignore::datasets.DataWarning")
def test_a_harmful_archive_is_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DatasetUnavailable, match="UCI 7/sample: ") as caught:
        load_from(HARMFUL[kind], monkeypatch)
    assert len(str(caught.value)) < 1000


def test_no_more_than_the_allowance_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives.Allowance, "__init__", lambda self: setattr(self, "left", 999))
    inner = zipped({"other.csv": b""})
    inner += bytes(400 - len(inner))  # a zip archive may be followed by padding, and still opens
    with pytest.raises(RefusedError, match="larger than any dataset"):
        archives.find_member(zipped({f"{i}.zip": inner for i in range(3)}), "sample.csv")


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


def fuzz(seeds: range, sample: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many mutated archives gave the table, and how many were refused; nothing else may be."""
    archives_ = corpus()
    loaded = refused = 0
    for seed in seeds:
        draw = random.Random(seed)
        archive = mutated(archives_[seed % len(archives_)], draw)
        try:
            table = load_from(archive, monkeypatch).table
        except DatasetUnavailable:
            refused += 1
        else:
            assert table.content_hash == sample, seed
            loaded += 1
    return loaded, refused


@pytest.mark.filterwarnings("ignore::datasets.DataWarning")
def test_4000_damaged_archives(
    sample: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(loading.Cache, "store_table", lambda *_: None)
    loaded, refused = fuzz(range(4000), sample, monkeypatch)
    assert loaded + refused == 4000
    assert min(loaded, refused) > 400, "the mutations neither all harmless nor all fatal"
    assert not (tmp_path / "cache").exists()


@pytest.mark.filterwarnings("ignore::datasets.DataWarning")
def test_500_damaged_files_inside_a_good_archive(
    sample: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading.Cache, "store_table", lambda *_: None)
    outcomes = []
    for seed in range(500):
        content = mutated(ROWS, random.Random(seed))
        try:
            table = load_from(
                zipped({"sample.csv": content}, zipfile.ZIP_STORED), monkeypatch
            ).table
        except DatasetUnavailable:
            outcomes.append("refused")
        else:
            assert table.content_hash == sample, seed
            outcomes.append("loaded")
    assert outcomes.count("refused") > 400, "hardly any change leaves the values as they were"


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


@pytest.fixture(autouse=True)
def forget_records() -> Iterator[None]:
    yield
    registry._scanned.cache_clear()
    carriers._listed.cache_clear()


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
    monkeypatch.setattr(carriers, "CARRIERS", tmp_path / "carriers.toml")
    carriers._listed.cache_clear()
    with pytest.raises(SourceError, match=r"carriers\.toml"):
        carriers.carrier("x")


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
