"""The results of the README, made from records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tables_support import paper_as_ours, runs

from experiments.analysis.findings import findings_of
from experiments.analysis.paper import load_paper
from experiments.analysis.settings import SEARCHED
from experiments.render.readme import answer_block, results_block

PAPER = load_paper()


@pytest.fixture
def ratios(tmp_path: Path) -> Path:
    path = tmp_path / "ratios.csv"
    path.write_text(
        "group,name,engine,epoch_ratio\nbanknote,Banknote size,tensorflow,1553.2\n"
        "depth,depth 4,tensorflow,12.0\n"
    )
    return path


def test_the_papers_own_numbers_reproduce_all(ratios: Path):
    jobs, records = paper_as_ours(PAPER)
    block = results_block(findings_of(jobs, records, paper=PAPER), ratios)
    assert "**Of the paper’s 852 numbers, 852 are exact and 0 equivalent.**" in block
    assert "| Test F1, tuned hyperparameters | 36 exact | 16 exact |" in block
    assert "Of 26, 26 hold, 0 do not hold, 0 cannot be told." in block
    assert "is at Banknote size 1,553 times as fast as the TensorFlow reference." in block
    assert "### Without the leak" not in block
    answer = answer_block(findings_of(jobs, records, paper=PAPER))
    assert answer.startswith("**Is GradTree better than CART?**\n")
    assert "852 are exact" in answer
    assert "| CART | published hyperparameters | paper | +0.0" in answer
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
    assert "| `clean` minus `paper` | GradTree |" in block
    assert "| Test F1, tuned hyperparameters, without categorical columns | – | – |" in block
    printed = PAPER.cells["test-f1-tuned"]["iris", "cart"].mean
    assert f"| paper | CART | 1 | {printed:.3f} | 0.500 |" in block
    assert "in 8 of 8 fits that both finished (datasets: 1)" in block


def test_what_is_off_and_what_is_open_is_said(ratios: Path):
    jobs, records = (part.copy() for part in paper_as_ours(PAPER))
    for job in jobs:
        if (job.experiment, job.dataset, job.method) == ("tuned", "echocardiogram", "gradtree"):
            records[job.key] = replace(records[job.key], test_f1=0.3)
        if (job.experiment, job.dataset, job.method) == ("tuned", "adult", "cart"):
            del records[job.key]
    block = results_block(findings_of(jobs, records, paper=PAPER), ratios)
    assert "1 differ significantly (0 better, 1 worse)." in block
    assert "3 have no measured counterpart." in block
    assert "Does not hold: “On Echocardiogram GradTree finds a clearly better tree" in block
    assert (
        "Cannot be told: “GradTree has the best mean reciprocal rank on binary datasets.”" in block
    )


def test_columns_tell_their_counts_with_the_test_over_datasets(ratios: Path):
    jobs, records = (part.copy() for part in paper_as_ours(PAPER))
    for job in jobs:
        if (job.experiment, job.method) == ("tuned", "gradtree"):
            record = records[job.key]
            records[job.key] = replace(record, test_f1=(record.test_f1 or 0.0) - 0.004)
    found = findings_of(jobs, records, paper=PAPER)
    block = results_block(found, ratios)
    cells = [v for v in found.verdicts if v.table == "test-f1-tuned" and v.method == "gradtree"]
    counts = {o: sum(v.outcome == o for v in cells) for o in ("equivalent", "undecided")}
    assert min(counts.values()) > 0
    line = next(each for each in block.splitlines() if each.startswith("| Test F1, tuned"))
    assert f"{counts['equivalent']} equivalent, {counts['undecided']} undecided" in line
    assert "(-0.0040, p < 0.0001; 0.004)" in line


def test_the_default_column_is_set_beside_the_published_run(ratios: Path):
    block = results_block(findings_of(*paper_as_ours(PAPER), paper=PAPER), ratios)
    assert "only the run of the latter was published. Compared with that run: 36 exact." in block


def test_trials_that_are_still_to_come_are_counted(ratios: Path):
    jobs, records = (part.copy() for part in paper_as_ours(PAPER))
    wine = [j for j in jobs if (j.experiment, j.dataset, j.method) == ("tuned", "wine", "gradtree")]
    for job in wine[8:]:
        del records[job.key]
    block = results_block(findings_of(jobs, records, paper=PAPER), ratios)
    assert "3 come from fewer than 10 trials so far." in block
