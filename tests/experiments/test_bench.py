"""``bench``: fits in processes of their own, beside those of earlier."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from experiments.__main__ import main
from experiments.commands.arguments import RESULTS


def test_engines_are_timed_beside_the_committed_fits(tmp_path: Path) -> None:
    shutil.copy(RESULTS / "bench" / "fits.csv", tmp_path)
    before = pd.read_csv(tmp_path / "fits.csv")
    words = ["--axis", "banknote", "--engines", "compiled", "--repeats", "2"]
    assert main(["bench", *words, "--output", str(tmp_path)]) == 0
    fits = pd.read_csv(tmp_path / "fits.csv")
    new, others = fits[fits["group"] == "banknote"], fits[fits["group"] != "banknote"]
    assert others.equals(before[before["group"] != "banknote"].reset_index(drop=True))
    assert list(new["engine"]) == ["compiled"] * 2
    assert (new[["epoch_cpu", "epoch_wall", "fit_cpu", "fit_wall"]] > 0).all(axis=None)
    medians = pd.read_csv(tmp_path / "medians.csv").set_index(["name", "engine"])
    assert medians.at[("Banknote size", "compiled"), "epoch_ratio"] == 1
    assert medians.at[("Spambase size", "tensorflow"), "epoch_ratio"] > 1


def test_the_authors_package_needs_an_interpreter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--axis", "banknote", "--engines", "authors", "--output", str(tmp_path)]
    assert main(["bench", *words]) == 2
    assert "name it with --authors-python" in capsys.readouterr().err
