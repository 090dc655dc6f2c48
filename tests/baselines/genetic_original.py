"""The library ``genetic-tree`` itself, in a Python of its own, to check ours against it.

Its wheels end at Python 3.8 and its source archive no longer builds, so it runs as a subprocess
of the interpreter that ``GENETIC_TREE_PYTHON`` names: a Python 3.8 with ``genetic-tree==0.1.2``,
``numpy==1.23.5`` (1.24 dropped the alias np.int, which the library uses) and ``scipy<1.11``.
``python tests/baselines/genetic_original.py`` records its trees anew: node numbers, thresholds,
classes and the best fitness of every generation.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.datasets

PYTHON = os.environ.get("GENETIC_TREE_PYTHON")
HERE = Path(__file__).resolve().parent
TREES = HERE / "fixtures" / "genetictree_original_trees.json"
NODES = ("left", "right", "feature", "threshold")
CASES = (
    ("wine", {}, 42),
    ("wine", {"n_trees": 100, "max_iter": 50, "cross_prob": 0.2, "mutation_prob": 0.8}, 7),
    ("wine", {"n_trees": 500, "max_iter": 60, "cross_prob": 1.0, "depth_penalty": 0.0}, 42),
    ("breast_cancer", {"max_iter": 90, "depth_penalty": 0.0, "n_thresholds": 4}, 1),
    ("digits", {"n_trees": 50, "max_iter": 80, "mutation_prob": 0.9, "n_elitism": 1}, 42),
)


def fit_original(
    X: np.ndarray, y: np.ndarray, params: Mapping[str, Any], seed: int, unseen: np.ndarray
) -> dict[str, np.ndarray]:
    """What the library grew.

    Its arrays ``left``, ``right``, ``feature`` (of a leaf: its class) and ``threshold``,
    ``best_fitness`` of every generation, ``predicted`` for the unseen rows.
    """
    assert PYTHON is not None
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory(prefix="genetic-tree-") as folder:
        rows, to_predict = X.astype(np.float32), unseen.astype(np.float32)
        np.savez(f"{folder}/task.npz", X=rows, y=y.astype(np.int64), unseen=to_predict)
        worker = [PYTHON, "-I", HERE / "genetic_original_worker.py", folder]
        order = [json.dumps(dict(params)), str(seed)]
        subprocess.run([*worker, *order], check=True, timeout=600, env=alone)
        with np.load(f"{folder}/result.npz") as result:
            return dict(result)


def recorded(name: str, params: Mapping[str, Any], seed: int) -> dict[str, Any]:
    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    grown = fit_original(X, y, params, seed, X)
    tree = {name: grown[name].tolist() for name in NODES}
    case = {"data": name, "params": params, "seed": seed, "tree": tree}
    return {**case, "best_fitness": grown["best_fitness"].tolist()}


if __name__ == "__main__":
    TREES.write_text(json.dumps([recorded(*case) for case in CASES]) + "\n")
