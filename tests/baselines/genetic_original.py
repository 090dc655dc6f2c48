"""The library ``genetic-tree`` itself, in a Python of its own, to check ours against it.

Its wheels end at Python 3.8 and its source archive no longer builds, so it
runs as a subprocess of an interpreter that ``GENETIC_TREE_PYTHON`` names or
that is found. Nothing in the suite needs it.

>>> from genetic_original import fit_original      # doctest: +SKIP
>>> fit_original(X, y, {"n_trees": 100}, seed=42).tree.node_count
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from gradtree.trees.tree import Tree

PYTHON_VARIABLE = "GENETIC_TREE_PYTHON"
# NumPy 1.24 dropped the alias np.int, which the library uses.
REQUIREMENTS = ("genetic-tree==0.1.2", "numpy==1.23.5", "scipy<1.11")
WORKER = Path(__file__).parent / "genetic_original_worker.py"
INSTALL_SECONDS = 600
LEAF = -1
_PROBE = "import sys; assert sys.version_info[:2] == (3, 8)"
_READY = "import genetic_tree, numpy; assert numpy.__version__ < '1.24'"


class OriginalUnavailableError(RuntimeError):
    """There is no Python 3.8 with the library, and none could be made."""


class OriginalFailedError(RuntimeError):
    """The library ran and did not finish."""


@dataclass(frozen=True, eq=False)
class OriginalFit:
    """What the original grew.

    Attributes
    ----------
    tree : in canonical form, with one value column per class of ``classes``.
    nodes : the library's own arrays ``left``, ``right``, ``feature`` (of a leaf: its
        class) and ``threshold``, in its own numbering.
    classes : labels of the training rows.
    predicted : its own predictions for the unseen rows.
    best_fitness : best fitness of the first and of every later generation.
    seconds, cpu_seconds : of building and fitting, without starting Python.
    """

    tree: Tree
    nodes: dict[str, NDArray[Any]]
    classes: NDArray[Any]
    predicted: NDArray[Any]
    best_fitness: NDArray[np.float64]
    seconds: float
    cpu_seconds: float


def find_python(named: str | Path | None = None) -> Path:
    """A Python 3.8: the one named, that of ``GENETIC_TREE_PYTHON``, or one found.

    Raises
    ------
    OriginalUnavailableError
        If the interpreter named is no Python 3.8, or none is found.
    """
    named = named or os.environ.get(PYTHON_VARIABLE)
    if named:
        if _succeeds(Path(named), _PROBE):
            return Path(named)
        raise OriginalUnavailableError(f"{named} is not a working Python 3.8")
    for candidate in _interpreters():
        if _succeeds(candidate, _PROBE):
            return candidate
    raise OriginalUnavailableError(
        "no Python 3.8 found, and genetic-tree has no wheels for later ones; install one, for "
        f"example with `pyenv install 3.8`, or name one in the variable {PYTHON_VARIABLE}"
    )


def _interpreters() -> Iterator[Path]:
    on_path = shutil.which("python3.8")
    if on_path:
        yield Path(on_path)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob("versions/3.8*/bin/python"))
    uv = Path.home() / ".local/share/uv/python"
    yield from sorted(uv.glob("cpython-3.8*/bin/python3.8"))


def side_environment(named: str | Path | None = None, folder: Path | None = None) -> Path:
    """The interpreter that has the library: the one found, or one of an environment made for it.

    Parameters
    ----------
    named : see :func:`find_python`.
    folder : of the environment; by default in the user's cache. Made on first
        use, which needs the package index.
    """
    python = find_python(named)
    if _succeeds(python, _READY):
        return python
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    folder = folder or cache / "gradtree-suite" / "genetic-tree-0.1.2"
    inside = folder / "bin" / "python"
    if not _succeeds(inside, _READY):
        _run([python, "-m", "venv", "--clear", folder], "cannot make an environment")
        _run(
            [inside, "-m", "pip", "install", "--quiet", "--only-binary=:all:", *REQUIREMENTS],
            "cannot install genetic-tree",
        )
    return inside


def _succeeds(python: Path, statement: str) -> bool:
    try:
        done = subprocess.run([python, "-I", "-c", statement], capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _run(command: list[Any], problem: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise OriginalUnavailableError(f"{problem}: {error}") from error
    if done.returncode:
        raise OriginalUnavailableError(f"{problem}: {done.stderr.strip() or done.stdout.strip()}")


def fit_original(
    X: ArrayLike,
    y: ArrayLike,
    params: Mapping[str, Any],
    seed: int = 42,
    unseen: ArrayLike | None = None,
    python: str | Path | None = None,
    timeout: float = 600.0,
) -> OriginalFit:
    """Fit the library's classifier and bring back its tree.

    Parameters
    ----------
    X, y : training rows and integer labels.
    params : those of ``GeneticTreeClassifier`` that the library has.
    unseen : rows to predict; the training rows if not given.
    python : see :func:`side_environment`.
    timeout : seconds until the subprocess is killed.

    Raises
    ------
    OriginalUnavailableError, OriginalFailedError
    """
    from baselines.algorithms.genetic.canonical import canonical

    rows, labels = np.asarray(X, dtype=np.float32), np.asarray(y, dtype=np.int64)
    interpreter = side_environment(python)
    with tempfile.TemporaryDirectory(prefix="genetic-tree-") as name:
        folder = Path(name)
        to_predict = rows if unseen is None else np.asarray(unseen, dtype=np.float32)
        np.savez(folder / "task.npz", X=rows, y=labels, unseen=to_predict)
        (folder / "order.json").write_text(json.dumps({"params": dict(params), "seed": seed}))
        _work(interpreter, folder, timeout)
        with np.load(folder / "result.npz") as result:
            grown = dict(result)
    classes, coded = np.unique(labels, return_inverse=True)
    nodes = {name: grown[name] for name in ("left", "right", "feature", "threshold")}
    return OriginalFit(
        tree=canonical(**as_class_indices(nodes, classes), X=rows, y=coded, n_classes=len(classes)),
        nodes=nodes,
        classes=classes,
        predicted=grown["predicted"],
        best_fitness=grown["best_fitness"],
        seconds=float(grown["seconds"]),
        cpu_seconds=float(grown["cpu_seconds"]),
    )


def as_class_indices(
    nodes: Mapping[str, NDArray[Any]], classes: NDArray[Any]
) -> dict[str, NDArray[Any]]:
    """The library's arrays with class indices instead of labels at the leaves."""
    leaf = nodes["left"] == LEAF
    indices = np.searchsorted(classes, nodes["feature"])
    return {**nodes, "feature": np.where(leaf, indices, nodes["feature"])}


def _work(interpreter: Path, folder: Path, timeout: float) -> None:
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            [interpreter, "-I", WORKER, folder],
            capture_output=True,
            text=True,
            timeout=timeout,
            env=alone,
        )
    except subprocess.TimeoutExpired as error:
        raise OriginalFailedError(f"genetic-tree was stopped after {timeout:g} seconds") from error
    if done.returncode < 0:
        killer = signal.Signals(-done.returncode)
        reason = "; so it dies of a single feature or class" if killer == signal.SIGFPE else ""
        raise OriginalFailedError(f"genetic-tree was killed by {killer.name}{reason}")
    if done.returncode:
        raise OriginalFailedError(f"genetic-tree failed: {done.stderr.strip()[-2000:]}")
