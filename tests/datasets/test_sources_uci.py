"""UCI, against a local stand-in: the frames of the other sources, or refused."""

import re
import socket
import zipfile

import numpy as np
import pytest
from datasets_support import FRUIT, answer, fruit_table, serving, write_mirror, zipped

from datasets import DatasetUnavailable, SourceError, load_dataset
from datasets.sources import uci

UCI = {"kind": "uci", "where": "7/fruit"}


def serve_uci(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr(uci, "ADDRESS", address + "/{}.zip")


def test_uci_gives_the_frames_of_the_mirror(fruit, tmp_path, monkeypatch):
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


GOOD = zipped({"fruit.csv": FRUIT}, zipfile.ZIP_STORED)


@pytest.mark.parametrize(
    "passing",
    [answer(b"busy", status=503), answer(GOOD[:50], promised=len(GOOD))],
    ids=["503", "torn"],
)
def test_a_passing_fault_is_tried_again(fruit, monkeypatch, passing):
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
    ],
)
@pytest.mark.filterwarnings("ignore::datasets.DataWarning")
def test_anything_else_is_refused_and_named(
    fruit, monkeypatch, tmp_path, given, attempts, complaint
):
    fruit(UCI)
    with serving({"/7/fruit.zip": [given]}) as (address, asked):
        serve_uci(monkeypatch, address)
        with pytest.raises(DatasetUnavailable, match=re.escape(complaint)):
            load_dataset("fruit")
    assert len(asked) == attempts
    assert not (tmp_path / "cache").exists()


def test_an_unreachable_host_is_waited_for_once():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/x"
    with pytest.raises(SourceError, match="refused"):
        uci.fetch(address)
    with pytest.raises(SourceError, match="could not be reached before"):
        uci.fetch(address)
