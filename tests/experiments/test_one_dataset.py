"""``scripts/run_dataset.py``: every learner on one dataset, end to end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import plugins

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPT = REPOSITORY / "scripts" / "run_dataset.py"


def script(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, words)]
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("GRADTREE_")}
    return subprocess.run(
        command, capture_output=True, text=True, cwd=REPOSITORY, env={**inherited, **environment}
    )


def test_a_table_of_ones_own_beside_the_suites_learners(tmp_path: Path) -> None:
    plug = plugins.write(tmp_path, plugins.BOTH)
    done = script(
        "My shop", "--plugin", plug, "--method", "shallow,cart,gradtree", "--trial", "0",
        "--experiment", "default", "--store", tmp_path / "runs", "--inline",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "My shop, default, test F1 (protocol paper):" in done.stdout
    found = pd.read_csv(tmp_path / "runs" / "datasets" / "my-shop" / "default.csv")
    assert set(found["method"]) == {"Shallow tree", "CART", "GradTree"}
    assert found["mean"].between(0.3, 1).all()
    drawings = {path.stem for path in (tmp_path / "runs" / "datasets" / "my-shop").glob("*.svg")}
    assert len(drawings) == 2  # of the learners that are trees


def test_without_the_data_it_says_how_to_get_it(tmp_path: Path) -> None:
    nothing = {
        "GRADTREE_CACHE": str(tmp_path),
        "GRADTREE_DATA": str(tmp_path),
        "HOME": str(tmp_path),
    }
    blocked = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    done = script("adult", "--store", tmp_path / "runs", **nothing, **blocked, no_proxy="")
    assert done.returncode == 3, done.stdout
    assert "Adult is not available" in done.stderr
    assert "-m experiments data adult" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_mistakes_are_told(tmp_path: Path) -> None:
    done = script("irsi", "--store", tmp_path / "runs")
    assert (done.returncode, "did you mean iris" in done.stderr) == (2, True)
