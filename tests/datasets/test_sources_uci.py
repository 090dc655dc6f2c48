"""UCI and OpenML, against local stand-ins: the frames of the other sources, or refused."""

import hashlib
import re
import socket
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import openml
import pytest
from datasets_support import FRUIT, Answer, answer, fruit_table, serving, write_mirror, zipped

from datasets import DatasetUnavailable, SourceError, load_dataset
from datasets.sources import openml_org, uci

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


ARFF = b"""@RELATION fruit
@ATTRIBUTE weight REAL
@ATTRIBUTE colour {red, yellow, green}
@ATTRIBUTE kind {1, 2}
@DATA
120,red,1
80.5,yellow,2
?,red,1
95,?,2
110,green,1
"""


def serve_openml(arff: bytes) -> dict[str, list[Answer]]:
    def describe(handler: Any) -> None:
        address = f"http://{handler.headers['Host']}/data/fruit.arff"
        checksum = hashlib.md5(arff, usedforsecurity=False).hexdigest()
        answer(
            '<oml:data_set_description xmlns:oml="http://openml.org/openml">'
            "<oml:id>77</oml:id><oml:name>fruit</oml:name><oml:version>1</oml:version>"
            "<oml:description>fruit</oml:description><oml:format>ARFF</oml:format>"
            f"<oml:url>{address}</oml:url><oml:file_id>1</oml:file_id>"
            f"<oml:default_target_attribute>kind</oml:default_target_attribute>"
            f"<oml:md5_checksum>{checksum}</oml:md5_checksum>"
            "</oml:data_set_description>".encode()
        )(handler)

    return {"/api/data/77": [describe], "/data/fruit.arff": [answer(arff)]}


@pytest.fixture
def openml_server(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda address: monkeypatch.setattr(openml.config, "server", f"{address}/api")


OPENML = {"kind": "openml", "where": "77"}
OPENML["recode_label"] = {"1": "apple", "2": "lemon"}


def test_openml_gives_the_frames_of_the_mirror(fruit, tmp_path, openml_server):
    fruit(OPENML)
    before = openml.config.get_config_as_dict()["cachedir"]
    with serving(serve_openml(ARFF)) as (address, asked):
        openml_server(address)
        loaded = load_dataset("fruit")
    assert loaded.source == "OpenML 77"
    assert "/api/data/77" in asked
    mirrored = load_dataset("fruit", write_mirror(tmp_path / "mirror"), cache=tmp_path / "other")
    assert loaded.X.equals(mirrored.X)
    assert np.array_equal(loaded.y, mirrored.y)
    assert openml.config.get_config_as_dict()["cachedir"] == before


@pytest.mark.parametrize(
    ("arff", "where", "complaint"),
    [
        (ARFF.replace(b"95", b"96"), "77", "some values differ"),
        (ARFF.replace(b"110,green,1\n", b""), "77", "4 rows of 2 features instead of 5 of 2"),
        (ARFF.replace(b"@ATTRIBUTE weight REAL\n", b""), "77", "cannot be fetched"),
        (ARFF, "78", "OpenML 78: dataset 78 cannot be fetched"),
    ],
)
@pytest.mark.filterwarnings("ignore::datasets.DataWarning")
def test_another_table_at_openml_is_refused(fruit, openml_server, arff, where, complaint):
    fruit({**OPENML, "where": where})
    with serving(serve_openml(arff)) as (address, _):
        openml_server(address)
        with pytest.raises(DatasetUnavailable, match=complaint):
            load_dataset("fruit")


def test_an_unreachable_server_is_waited_for_once(fruit, openml_server, monkeypatch):
    monkeypatch.setattr(openml_org, "ATTEMPTS", 1)
    fruit(OPENML)
    with serving({}) as (address, _):
        openml_server(address)
    with pytest.raises(DatasetUnavailable, match="ConnectionError"):
        load_dataset("fruit")
    with pytest.raises(DatasetUnavailable, match="could not be reached before"):
        load_dataset("fruit")
