"""The verb ``data``: what it prints and how it ends."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from datasets_support import FRUIT, write_mirror

from datasets import Record, loading
from experiments.__main__ import main

Register = Callable[..., Record]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_all_there(fruit: Register, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mirror = write_mirror(tmp_path / "mirror")
    assert main(["data", "--mirror", str(mirror)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert " ".join(lines[0].split()) == "Fruit 5 rows 2 features 2 classes verified mirror"
    assert lines[-1] == "1 of 1 datasets are available and verified."


def test_what_is_missing_comes_with_a_remedy(
    fruit: Register, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", "fruit"]) == 3
    out = capsys.readouterr().out
    assert "missing" in out.splitlines()[0]
    assert "Fruit is missing: get fruit.csv from https://example.org/fruit" in out
    assert "  tried cache: nothing in" in out
    assert "0 of 1 datasets are available and verified." in out


def test_a_changed_file_is_noted(
    fruit: Register, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mirror = write_mirror(tmp_path / "mirror")
    cache = str(tmp_path / "kept")
    assert main(["data", "--mirror", str(mirror), "--cache", cache]) == 0
    write_mirror(mirror, FRUIT[:-1])
    loading._load.cache_clear()
    assert main(["data", "--mirror", str(mirror), "--cache", cache, "fruit"]) == 0
    out = capsys.readouterr().out
    assert "Note: Fruit, mirror:" in out
    assert "is not the expected file" in out


def test_sources_can_be_restricted(
    fruit: Register, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mirror = write_mirror(tmp_path / "mirror")
    assert main(["data", "--mirror", str(mirror), "--source", "cache"]) == 3
    assert main(["data", "--mirror", str(mirror), "--source", "cache", "--source", "mirror"]) == 0
    assert main(["data", "--source", "nowhere"]) == 2
    assert "invalid choice: 'nowhere'" in capsys.readouterr().err


def test_an_unknown_dataset(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "Titanik"]) == 2
    assert "no dataset 'Titanik'; did you mean titanic" in capsys.readouterr().err


def test_bundled_datasets_need_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "Wine", "wisconsin-breast-cancer"]) == 0
    assert capsys.readouterr().out.count("installed sklearn") == 2


def test_a_terminal_gets_a_line_per_dataset(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("GRADTREE_SOURCES", "installed")
    assert main(["data"]) == 3
    shown = terminal.getvalue()
    for text in ("Blood Transfusion", "Splice", "installed sklearn", "verified", "missing"):
        assert text in shown
    assert "2 of 36 datasets are available and verified." in shown
