"""The script that makes the README's pictures."""

from __future__ import annotations

import importlib.util
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest

from experiments.core.record import RunRecord
from experiments.core.store import Store
from experiments.runner.profiles import Filters, profiles, select

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "screenshots.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("screenshots", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_terminal_is_drawn_from_records_without_fetching_anything(
    script: ModuleType, tmp_path: Path
) -> None:
    wanted = Filters(experiments=["tuned"], protocols=["paper"], datasets=["iris"], trials=[0, 1])
    store = Store(tmp_path / "store")
    jobs = select(profiles()["paper"], wanted)
    for job in jobs:
        store.append(RunRecord.of(job, "ok", test_f1=0.9, wall_seconds=2.0))
    paths = [script.draw_terminal(store.folder, tmp_path / name) for name in ("a.svg", "b.svg")]
    first, second = (path.read_text(encoding="utf-8") for path in paths)
    assert first == second
    root = ElementTree.fromstring(first)
    texts = "".join(root.itertext()).replace("\xa0", " ")
    done = int(script.REPLAYED_SHARE * len(jobs))
    assert f"{done}/{len(jobs)}" in texts
    assert "gradtree" in texts
    assert "http" not in first.replace("http://www.w3.org/", "")


def test_an_empty_store_is_refused_with_the_reason(script: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no records of the tuned experiment"):
        script.draw_terminal(tmp_path, tmp_path / "terminal.svg")
