"""The UCI archive, against a local stand-in: the frames of the other sources, or refused."""

from __future__ import annotations

import http.client
import re
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasets_support import FRUIT, Answer, answer, fruit_table, serving, write_mirror, zipped
from sklearn.datasets import load_breast_cancer, load_wine

from datasets import DatasetUnavailable, Record, SourceError, load_dataset
from datasets.sources import uci

Register = Callable[..., Record]
UCI = {"kind": "uci", "where": "7/fruit", "exercised": False}


def serve_uci(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr(uci, "ADDRESS", address + "/{}.zip")


def test_uci_gives_the_frames_of_the_mirror(
    fruit: Register, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fruit(UCI)
    archive = zipped({"data/readme.txt": b"hello", "data/fruit.csv": FRUIT})
    with serving({"/7/fruit.zip": [answer(archive)]}) as (address, asked):
        serve_uci(monkeypatch, address)
        loaded = load_dataset("fruit")
    assert (loaded.source, asked) == ("UCI 7/fruit", ["/7/fruit.zip"])
    mirrored = load_dataset("fruit", write_mirror(tmp_path / "mirror"), cache=tmp_path / "other")
    assert loaded.X.equals(mirrored.X)
    assert np.array_equal(loaded.y, mirrored.y)
    assert load_dataset("fruit", sources=["cache"]).source == "cache"


def test_uci_archives_may_be_nested(fruit: Register, monkeypatch: pytest.MonkeyPatch) -> None:
    fruit(UCI)
    archive = zipped({"Fruit.zip": zipped({"Fruit/fruit.csv": FRUIT})})
    with serving({"/7/fruit.zip": [answer(archive)]}) as (address, _):
        serve_uci(monkeypatch, address)
        assert load_dataset("fruit").table.content_hash == fruit_table().content_hash


GOOD = zipped({"fruit.csv": FRUIT})


@pytest.mark.parametrize(
    "passing",
    [answer(b"busy", status=503), answer(GOOD[:50], promised=len(GOOD))],
    ids=["503", "torn"],
)
def test_a_passing_fault_is_tried_again(
    fruit: Register, monkeypatch: pytest.MonkeyPatch, passing: Answer
) -> None:
    fruit(UCI)
    with serving({"/7/fruit.zip": [passing, passing, answer(GOOD)]}) as (address, asked):
        serve_uci(monkeypatch, address)
        assert load_dataset("fruit").table.content_hash == fruit_table().content_hash
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("given", "attempts", "complaint"),
    [
        (answer(b"", status=404), 1, "HTTP status 404"),
        (answer(b"", status=500), 3, "HTTP status 500"),
        (answer(GOOD[:50], promised=len(GOOD)), 3, "IncompleteRead"),
        (answer(GOOD[:50]), 1, "not a complete zip archive"),
        (answer(b"<html>moved</html>"), 1, "not a complete zip archive"),
        (answer(zipped({"other.csv": FRUIT})), 1, "the archive has no member fruit.csv"),
        (answer(zipped({"fruit.csv": FRUIT.replace(b"95", b"96")})), 1, "some values differ"),
        (answer(zipped({"fruit.csv": FRUIT[:40]})), 1, "instead of 5 of 2"),
        (answer(GOOD.replace(b"yellow", b"yellaw")), 1, "fruit.csv cannot be read: Bad CRC"),
        (answer(zipped({"../fruit.csv": FRUIT})), 1, "escapes its folder: '../fruit.csv'"),
        (answer(zipped({"fruit.csv": FRUIT, "/etc/x": b""})), 1, "escapes its folder: '/etc/x'"),
        (answer(zipped({"a/..\\..\\x": b"", "fruit.csv": FRUIT})), 1, "escapes its folder"),
        (answer(zipped({"C:/fruit.csv": FRUIT})), 1, "escapes its folder: 'C:/fruit.csv'"),
    ],
)
@pytest.mark.filterwarnings("ignore::datasets.DataWarning")
def test_anything_else_is_refused_and_named(
    fruit: Register,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    given: Answer,
    attempts: int,
    complaint: str,
) -> None:
    fruit(UCI)
    with serving({"/7/fruit.zip": [given]}) as (address, asked):
        serve_uci(monkeypatch, address)
        with pytest.raises(DatasetUnavailable, match=re.escape(complaint)):
            load_dataset("fruit")
    assert len(asked) == attempts
    assert not (tmp_path / "cache").exists()


def test_an_unreachable_host_is_waited_for_once() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/x"
    with pytest.raises(SourceError, match="refused"):
        uci.fetch(address)
    with pytest.raises(SourceError, match="could not be reached before"):
        uci.fetch(address)


def test_faults_are_followed_by_growing_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(uci, "PAUSES_SECONDS", (1.0, 2.0))
    monkeypatch.setattr(time, "sleep", pauses.append)

    def torn(address: str) -> bytes:
        raise http.client.IncompleteRead(b"", 10)

    monkeypatch.setattr(uci, "_fetch_once", torn)
    with pytest.raises(SourceError, match="cannot be fetched"):
        uci.fetch("http://example.org/x")
    assert pauses == [1.0, 2.0]


def write_rows(matrix: Any, labels: Sequence[str], label_at: int) -> bytes:
    """A file in the layout of the UCI archive made from scikit-learn's arrays."""
    rows = []
    for numbers, label in zip(matrix.tolist(), labels, strict=True):
        cells = [
            f"{number:g}" if number.is_integer() else repr(float(number)) for number in numbers
        ]
        rows.append(",".join([*cells[:label_at], label, *cells[label_at:]]))
    return ("\n".join(rows) + "\n").encode()


@pytest.mark.parametrize("name", ["wine", "wisconsin-breast-cancer"])
def test_scikit_learn_and_uci_give_identical_frames(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "wine":
        bunch = load_wine()
        path = "/109/wine.zip"
        files = {"wine.data": write_rows(bunch.data, [str(c + 1) for c in bunch.target], 0)}
    else:
        bunch = load_breast_cancer()
        path = "/17/breast+cancer+wisconsin+diagnostic.zip"
        numbered = write_rows(bunch.data, ["MB"[c] for c in bunch.target], 0).splitlines()
        files = {"wdbc.data": b"\n".join(b"%d,%s" % (i, row) for i, row in enumerate(numbered))}
    with serving({path: [answer(zipped(files))]}) as (address, _):
        serve_uci(monkeypatch, address)
        fetched = load_dataset(name, sources=["uci"])
    bundled = load_dataset(name, cache=tmp_path / "other", sources=["installed"])
    assert (fetched.source[:3], bundled.source) == ("UCI", "installed sklearn")
    assert fetched.X.equals(bundled.X)
    assert np.array_equal(fetched.y, bundled.y)
