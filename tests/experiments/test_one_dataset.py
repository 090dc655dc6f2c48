"""One dataset end to end: the row beside the paper's, its tables, its trees."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from experiments.analysis import table_set
from experiments.core.record import RunRecord
from experiments.render.files import write_comparisons
from experiments.render.wording import comparison_text
from experiments.runner.catalogue import jobs_of
from experiments.runner.executors.process import ROOT, python_environment

SCRIPT = str(ROOT / "scripts" / "run_dataset.py")


def made_up_records() -> tuple[list, dict[str, RunRecord]]:  # type: ignore[type-arg]
    """CART on Iris scoring as printed on average, GradTree far worse, DNDT too slow."""
    jobs = jobs_of("tuned", "paper", ["iris"], ["cart", "gradtree", "dndt"])
    records = {}
    for job in jobs:
        spread = 0.05 if job.trial % 2 else -0.05
        score = {"cart": 0.938, "gradtree": 0.5}.get(job.method)
        if score is None:
            records[job.key] = RunRecord.of(job, "timeout", reason="slow", extra={"limit": 60})
        else:
            found = {"test_f1": score + spread, "train_f1": 0.9, "tree_size": 9}
            records[job.key] = RunRecord.of(job, "ok", **found)
    return jobs, records


def test_the_row_stands_beside_the_papers(tmp_path: Path) -> None:
    jobs, records = made_up_records()
    comparisons = table_set.compare("iris", "paper", jobs, records, {}, {})
    assert [c.table.name for c in comparisons] == [
        "test-f1-tuned",
        "train-f1-tuned",
        "tree-size-tuned",
    ]
    lines = {line.split()[0]: line for line in comparison_text(comparisons[0]).splitlines()[3:]}
    assert lines["GradTree"].split()[1:4] == ["0.500", "±", "0.050"]
    assert "0.938 ± 0.057" in lines["GradTree"]
    assert lines["GradTree"].endswith("worse")
    assert lines["DNDT"].split()[1:3] == [">1", "min"]
    assert lines["GeneticTree"].endswith("not run")
    write_comparisons(tmp_path, comparisons)
    rows = (tmp_path / "test-f1-tuned.csv").read_text().splitlines()
    assert len(rows) == 1 + 5
    assert r"\begin{tabular}" in (tmp_path / "test-f1-tuned.tex").read_text()


def run_script(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, *arguments],
        env=python_environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_typo_gets_a_suggestion() -> None:
    done = run_script("tytanic")
    assert done.returncode == 2
    assert "did you mean titanic" in done.stderr


def test_the_script_runs_from_data_to_pictures(tmp_path: Path) -> None:
    """Wine comes with scikit-learn."""
    done = run_script(
        *["Wine", "--method", "cart", "--trial", "0-1", "--experiment", "tuned"],
        *["--store", str(tmp_path / "store"), "--inline"],
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 jobs: 2 ok" in done.stdout
    folder = tmp_path / "store" / "datasets" / "wine"
    assert (folder / "test-f1-tuned.csv").exists()
    assert (folder / "cart.svg").exists()
    assert (folder / "cart.png").read_bytes().startswith(b"\x89PNG")
