"""Every command and snippet of the README runs; its figures are those of ``results/``."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")

# What takes minutes or a cluster is run in a cut-down form that still fails on a wrong option.
CUT_DOWN = {
    "make test": "make --dry-run test",
    "make reproduce": "make --dry-run reproduce",
    "make reproduce PROFILE=smoke": "make --dry-run reproduce PROFILE=smoke",
    "make data": f"{sys.executable} -m experiments data wine --source installed",
    "scripts/run_dataset.py titanic": (
        f"{sys.executable} scripts/run_dataset.py wine --method cart --trial 0 --store STORE"
    ),
    "--shard 1/2": f"{sys.executable} -m experiments run --profile quick --shard 1/2 "
    "--store STORE --dataset wine --method cart",
    "--shard 2/2": f"{sys.executable} -m experiments run --profile quick --shard 2/2 "
    "--store STORE --dataset wine --method cart",
    "experiments merge": f"{sys.executable} -m experiments merge results/records --into STORE",
    "dask scheduler": f"{sys.executable} -m dask scheduler --version",
    "dask worker": f"{sys.executable} -m dask worker --version",
    "--scheduler": f"{sys.executable} -m experiments run --help",
    "experiments verify": f"{sys.executable} -m experiments verify --store STORE",
    "experiments status": f"{sys.executable} -m experiments status --store STORE",
    "experiments failures": f"{sys.executable} -m experiments failures --store STORE",
}
# 0: done; 3: some jobs are not done, which is what an empty store says.
EXPECTED_STATUS = (0, 3)


def commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)
    lines = [line.split("#")[0].strip() for block in blocks for line in block.splitlines()]
    inline = re.findall(r"`(\.venv/bin/python [^`]+)`", README)
    return [line for line in [*lines, *inline] if line]


def snippets() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def runnable(command: str, store: Path) -> list[str]:
    for part, shorter in sorted(CUT_DOWN.items(), key=lambda item: -len(item[0])):
        if part in command:
            return shlex.split(shorter.replace("STORE", str(store)))
    return shlex.split(command.replace(".venv/bin/python", sys.executable))


@pytest.mark.parametrize("command", commands())
def test_command(command: str, tmp_path: Path) -> None:
    offline = {**os.environ, "GRADTREE_SOURCES": "mirror,cache,installed"}
    done = subprocess.run(
        runnable(command, tmp_path / "store"),
        cwd=REPOSITORY,
        env=offline,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in EXPECTED_STATUS, done.stdout + done.stderr


@pytest.mark.parametrize("snippet", snippets(), ids=lambda snippet: snippet.split("\n")[0])
def test_snippet(snippet: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", snippet],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_results_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/update_readme.py", "--check"], cwd=REPOSITORY, check=False
    )
    assert done.returncode == 0, "run scripts/update_readme.py"


def test_every_local_link_leads_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    missing = [link for link in links if not (REPOSITORY / link).exists()]
    assert links
    assert not missing
