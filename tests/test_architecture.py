"""Data goes one way: who may import whom, read off the sources."""

import ast
from collections import defaultdict
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LEARNING = ("gradtree", "baselines", "datasets")
PACKAGES = (*LEARNING, "experiments")
FACES = ("gradtree", "datasets", "experiments")
"""The public face of a package may name what is inside; the algorithms of ``baselines`` know no
learner."""
PURE = ("experiments.runs", "experiments.analysis", "experiments.output")
"""Each knows those before it."""


def room(module: str) -> str:
    """The folder of a module: a package, or a folder of one."""
    parts = module.split(".")[:2]
    return ".".join(parts) if ROOT.joinpath(*parts).is_dir() else parts[0]


def imports() -> dict[tuple[str, str], list[str]]:
    """(room, imported room) -> places, imports inside functions included."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            own = room(".".join(path.relative_to(ROOT).with_suffix("").parts))
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                for name in _names(node):
                    if name.split(".")[0] in PACKAGES and room(name) != own:
                        place = f"{path.relative_to(ROOT)}:{node.lineno}"  # type: ignore[attr-defined]
                        found[own, room(name)].append(place)
    return found


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        # ``from experiments.runs import store`` may name a module or something inside one.
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def test_no_folder_imports_a_folder_that_imports_it():
    found = imports()
    after: dict[str, set[str]] = defaultdict(set)
    for own, other in found:
        if other not in FACES:
            after[own].add(other)
    # Sorting fails with the folders of a circle.
    TopologicalSorter(after).prepare()


@pytest.mark.parametrize("own", PURE)
def test_what_comes_after_the_record_knows_no_learner_and_no_data(own):
    known = {
        other: places
        for (mine, other), places in imports().items()
        if mine == own and (other.split(".")[0] in LEARNING or other.startswith("experiments."))
    }
    assert set(known) <= set(PURE[: PURE.index(own)]), known


WITHOUT = """
import sys
sys.modules.update(dict.fromkeys({blocked}))
from experiments.__main__ import main
raise SystemExit(main({arguments}))
"""


@pytest.mark.parametrize("verb", ["tables", "report", "verify"])
def test_tables_report_and_verdicts_import_nothing_that_learns(verb, tmp_path, python):
    blocked = {*LEARNING, "tensorflow", "numba"}
    options = [] if verb == "verify" else ["--results", "--output", str(tmp_path)]
    python(WITHOUT.format(blocked=blocked, arguments=[verb, *options]))
