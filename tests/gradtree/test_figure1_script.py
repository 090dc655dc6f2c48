"""The script that draws the paper's Figure 1."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tree_samples import stump

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "figure1.py"


@pytest.fixture(scope="module")
def figure1() -> ModuleType:
    specification = importlib.util.spec_from_file_location("figure1", SCRIPT)
    module = importlib.util.module_from_spec(specification)
    sys.modules["figure1"] = module
    specification.loader.exec_module(module)
    return module


def test_the_median_trial_is_drawn(figure1):
    def pair(trial, cart, gradtree):
        panels = tuple(
            figure1.Panel(name, stump(), score) for name, score in (("a", cart), ("b", gradtree))
        )
        return figure1.Pair(trial, None, panels)

    pairs = [pair(0, 0.5, 0.9), pair(1, 0.6, 0.5), pair(2, 0.4, 0.5), pair(3, 0.5, 0.7)]
    assert figure1.chosen_pair(pairs).trial == 2


@pytest.mark.mirror
def test_both_trees_are_drawn_in_original_units(tmp_path):
    subprocess.run(
        [sys.executable, SCRIPT, "--trial", "4", "--output", tmp_path], check=True, timeout=300
    )
    drawing = (tmp_path / "figure1_echocardiogram_paper.svg").read_text(encoding="utf-8")
    for text in ("(a) CART", "(b) GradTree", "wall-motion-", "dead or unknown", "or n/a"):
        assert text in drawing
    assert (tmp_path / "figure1_echocardiogram_paper.pdf").read_bytes().startswith(b"%PDF")
