"""The library ``genetic-tree`` itself, in a Python of its own, to check ours against it.

Its wheels end at Python 3.8 and its source archive no longer builds, so it runs as a subprocess
of the interpreter that ``GENETIC_TREE_PYTHON`` names: a Python 3.8 with ``genetic-tree==0.1.2``,
``numpy==1.23.5`` (1.24 dropped the alias np.int, which the library uses) and ``scipy<1.11``.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from baselines.algorithms.genetic.estimator import canonical
from gradtree.trees.tree import LEAF, Tree

PYTHON = os.environ.get("GENETIC_TREE_PYTHON")
WORKER = Path(__file__).parent / "genetic_original_worker.py"
NODES = ("left", "right", "feature", "threshold")


def fit_original(
    X: np.ndarray, y: np.ndarray, params: Mapping[str, Any], seed: int, unseen: np.ndarray
) -> dict[str, np.ndarray]:
    """What the library grew.

    Its arrays ``left``, ``right``, ``feature`` (of a leaf: its class) and ``threshold``,
    ``best_fitness`` of every generation, ``predicted`` for the unseen rows, ``cpu_seconds``.
    """
    assert PYTHON is not None
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory(prefix="genetic-tree-") as name:
        folder = Path(name)
        rows, to_predict = X.astype(np.float32), unseen.astype(np.float32)
        np.savez(folder / "task.npz", X=rows, y=y.astype(np.int64), unseen=to_predict)
        (folder / "order.json").write_text(json.dumps({"params": dict(params), "seed": seed}))
        subprocess.run([PYTHON, "-I", WORKER, folder], check=True, timeout=600, env=alone)
        with np.load(folder / "result.npz") as result:
            return dict(result)


def canonical_of(grown: Mapping[str, np.ndarray], X: np.ndarray, y: np.ndarray) -> Tree:
    """The canonical tree of the library's arrays, which have labels at the leaves."""
    nodes = {name: np.asarray(grown[name]) for name in NODES}
    classes, coded = np.unique(y, return_inverse=True)
    indices = np.searchsorted(classes, nodes["feature"])
    nodes["feature"] = np.where(nodes["left"] == LEAF, indices, nodes["feature"])
    return canonical(**nodes, X=X.astype(np.float32), y=coded, n_classes=len(classes))
