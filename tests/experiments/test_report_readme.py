"""The results of the README, made from records."""

from __future__ import annotations

from pathlib import Path

import pytest
from tables_support import paper_as_ours, runs

from experiments.report.readme import results_block
from experiments.tables.searched import EXPERIMENT as SEARCHED
from experiments.verdicts.findings import findings_of
from experiments.verdicts.paper import load_paper

PAPER = load_paper()


@pytest.fixture
def ratios(tmp_path: Path) -> Path:
    path = tmp_path / "ratios.csv"
    path.write_text("group,name,engine,epoch_ratio\n")
    return path


def test_the_papers_own_numbers_reproduce_all(ratios: Path):
    jobs, records = paper_as_ours(PAPER)
    block = results_block(findings_of(jobs, records, paper=PAPER), ratios)
    assert "**852 of the paper's 852 numbers reproduce:** 852 are *exact*" in block
    assert "| Test F1, tuned hyperparameters | 36 exact | 16 exact |" in block
    assert "clean" not in block
    assert "Our own search" not in block
    assert "pydl8.5" not in block


def test_findings_appear_once_their_runs_are_there(ratios: Path):
    jobs, records = (part.copy() for part in paper_as_ours(PAPER))
    for experiment, method, protocol, values in (
        ("tuned", "cart", "clean", [0.95] * 10),
        (SEARCHED, "cart", "paper", [0.5] * 10),
        ("solvers", "dl85", "paper", [0.9] * 10),
        ("solvers", "dl85-original", "paper", [0.9] * 8),
    ):
        more, found = runs(experiment, "iris", method, values, protocol=protocol)
        jobs += more
        records.update(found)
    block = results_block(findings_of(jobs, records, paper=PAPER), ratios)
    assert "| protocol `clean` minus `paper` | GradTree |" in block
    printed = PAPER.cells["test-f1-tuned"]["iris", "cart"].mean
    assert f"CART {printed:.3f} with the published hyperparameters and 0.500 with ours (1)" in block
    assert "in 8 of 8 fits that both finished (datasets: 1)" in block
