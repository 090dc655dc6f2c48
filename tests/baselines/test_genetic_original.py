"""The bridge to the original library; most of it with interpreters that only pretend."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import genetic_original
import numpy as np
import pytest
from genetic_original import (
    OriginalFailedError,
    OriginalUnavailableError,
    find_python,
    fit_original,
    side_environment,
)
from sklearn.datasets import make_classification

from baselines.algorithms.genetic.estimator import GeneticTreeClassifier

X = np.arange(20.0).reshape(10, 2)
Y = np.arange(10) % 2


def pretend(folder: Path, behaviour: str) -> Path:
    """An interpreter that passes every check and then does as told when set to work."""
    script = folder / "python3.8"
    script.write_text(f'#!/bin/sh\n[ "$2" = "-c" ] && exit 0\n{behaviour}\n')
    script.chmod(0o755)
    return script


def test_endless_run_is_stopped(tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(OriginalFailedError, match=r"stopped after 0\.5 seconds"):
        fit_original(X, Y, {}, python=pretend(tmp_path, "exec sleep 60"), timeout=0.5)
    assert time.monotonic() - began < 20


def test_killed_process_is_explained(tmp_path: Path) -> None:
    with pytest.raises(OriginalFailedError, match=r"SIGFPE.*single feature"):
        fit_original(X, Y, {}, python=pretend(tmp_path, "kill -FPE $$"))


def test_error_of_the_library_is_shown(tmp_path: Path) -> None:
    with pytest.raises(OriginalFailedError, match="no such thing"):
        fit_original(X, Y, {}, python=pretend(tmp_path, "echo no such thing >&2; exit 3"))


def test_named_interpreter_has_to_be_a_python_38(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OriginalUnavailableError, match=r"not a working Python 3\.8"):
        find_python(sys.executable)
    monkeypatch.setenv(genetic_original.PYTHON_VARIABLE, "/nowhere/python")
    with pytest.raises(OriginalUnavailableError, match="/nowhere/python"):
        find_python()


def test_interpreters_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(genetic_original.PYTHON_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setattr(genetic_original.shutil, "which", lambda name: None)
    with pytest.raises(OriginalUnavailableError, match=r"pyenv install 3\.8"):
        find_python()
    folder = tmp_path / "pyenv" / "versions" / "3.8.18" / "bin"
    folder.mkdir(parents=True)
    pretend(folder, "exit 0").rename(folder / "python")
    assert find_python() == folder / "python"


def test_failing_installation_is_reported(tmp_path: Path) -> None:
    bare = tmp_path / "python3.8"
    bare.write_text(
        '#!/bin/sh\ncase "$3" in *genetic_tree*) exit 1;; *version_info*) exit 0;; esac\n'
        "echo no venv here >&2; exit 1\n"
    )
    bare.chmod(0o755)
    with pytest.raises(OriginalUnavailableError, match="no venv here"):
        side_environment(bare, tmp_path / "environment")


@pytest.fixture(scope="module")
def original() -> Path:
    """An interpreter with the library, or a skipped test."""
    try:
        return side_environment()
    except OriginalUnavailableError as reason:
        pytest.skip(str(reason))


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [0.01, 0.0])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", [42, 5])
def test_both_grow_the_same_tree(original: Path, penalty: float, n_classes: int, seed: int) -> None:
    rows, y = make_classification(
        600, 8, n_informative=6, n_classes=n_classes, flip_y=0.2, random_state=seed
    )
    params = {
        "n_trees": 150,
        "max_iter": 60,
        "cross_prob": 0.8,
        "mutation_prob": 0.6,
        "depth_penalty": penalty,
    }
    theirs = fit_original(rows[:450], y[:450], params, seed, rows[450:], original)
    ours = GeneticTreeClassifier(**params, random_state=seed).fit(rows[:450], y[:450])
    assert ours.tree_ == theirs.tree
    assert ours.best_fitness_.tolist() == theirs.best_fitness.tolist()
    assert (ours.predict(rows[450:]) == theirs.predicted).all()


@pytest.mark.slow
def test_single_feature_kills_the_original(original: Path) -> None:
    with pytest.raises(OriginalFailedError, match="SIGFPE"):
        fit_original(X[:, :1], Y, {"max_iter": 5}, python=original)


@pytest.mark.slow
def test_at_least_five_times_faster(original: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """20,000 rows of 60 features, taking turns, processor time of one thread each."""
    rows, y = make_classification(20_000, 60, n_informative=10, random_state=0)
    params = {"max_iter": 5}
    GeneticTreeClassifier(**params, random_state=0).fit(rows[:100], y[:100])  # compiles
    ours, theirs = [], []
    for _ in range(3):
        theirs.append(fit_original(rows, y, params, 42, rows[:1], original).cpu_seconds)
        began = time.process_time()
        GeneticTreeClassifier(**params, random_state=42).fit(rows, y)
        ours.append(time.process_time() - began)
    ratio = np.median(theirs) / np.median(ours)
    with capsys.disabled():
        print(
            f"\noriginal {np.median(theirs):.2f} s, ours {np.median(ours):.3f} s: {ratio:.0f} times"
        )
    assert ratio > 5
