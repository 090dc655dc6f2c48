"""OpenML, against a local stand-in for its server."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openml
import pytest
from datasets_support import Answer, answer, serving, write_mirror

from datasets import DatasetUnavailable, Record, load_dataset
from datasets.sources import openml_org

Register = Callable[..., Record]

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


OPENML = {
    "kind": "openml",
    "where": "77",
    "exercised": False,
    "recode_label": {"1": "apple", "2": "lemon"},
}


def test_openml_gives_the_frames_of_the_mirror(
    fruit: Register, tmp_path: Path, openml_server: Callable[[str], None]
) -> None:
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
    ("arff", "complaint"),
    [
        (ARFF.replace(b"95", b"96"), "some values differ"),
        (ARFF.replace(b"110,green,1\n", b""), "4 rows of 2 features instead of 5 of 2"),
        (ARFF.replace(b"@ATTRIBUTE weight REAL\n", b""), "cannot be fetched"),
    ],
)
@pytest.mark.filterwarnings("ignore::datasets.DataWarning")
def test_another_table_at_openml_is_refused(
    fruit: Register, openml_server: Callable[[str], None], arff: bytes, complaint: str
) -> None:
    fruit(OPENML)
    with serving(serve_openml(arff)) as (address, _):
        openml_server(address)
        with pytest.raises(DatasetUnavailable, match=complaint):
            load_dataset("fruit")


def test_an_unknown_number_at_openml(fruit: Register, openml_server: Callable[[str], None]) -> None:
    fruit({**OPENML, "where": "78"})
    with serving(serve_openml(ARFF)) as (address, _):
        openml_server(address)
        with pytest.raises(DatasetUnavailable, match="OpenML 78: dataset 78 cannot be fetched"):
            load_dataset("fruit")


def test_an_unreachable_server_is_waited_for_once(
    fruit: Register, openml_server: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openml_org, "ATTEMPTS", 1)
    fruit(OPENML)
    with serving({}) as (address, _):
        openml_server(address)
    with pytest.raises(DatasetUnavailable, match="ConnectionError"):
        load_dataset("fruit")
    with pytest.raises(DatasetUnavailable, match="could not be reached before"):
        load_dataset("fruit")
