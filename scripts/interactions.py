#!/usr/bin/env python
"""Compare the best small tree, GradTree and CART where columns tell something only together.

    .venv/bin/python scripts/interactions.py
    .venv/bin/python scripts/interactions.py --draws 2 --output .runs/bench

Writes accuracy on new rows, that of the truth, nodes and processor seconds of ten draws of each
table to interactions.csv.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gradtree import CartClassifier, GradTreeClassifier, SmallTreeClassifier

NOISE = 0.1
TABLES = {
    "xor2": "XOR of two columns",
    "xor2 noise": "XOR of two columns, a tenth of the labels wrong",
    "xor3": "XOR of three columns",
    "xor3 noise": "XOR of three columns, a tenth of the labels wrong",
    "checkerboard": "board of three by three fields",
    "categories": "parity of three yes/no columns",
    "four categories": "parity of two columns of four categories",
}
"""Each has ten columns and 1,500 rows; the others of its columns are noise."""
N_ROWS = 1500
LEARNERS = {
    "CART (pruned)": CartClassifier(random_state=0),
    "CART (16 leaves)": CartClassifier(max_leaf_nodes=16, random_state=0),
    "GradTree (16 leaves)": GradTreeClassifier(max_leaf_nodes=16, random_state=0),
    "SmallTreeClassifier": SmallTreeClassifier(random_state=0),
}


def parity(X: Any, n_columns: int) -> Any:
    return np.logical_xor.reduce(np.asarray(X)[:, :n_columns] > 0.5, axis=1)


def draw(name: str, seed: int, n_rows: int = N_ROWS) -> tuple[Any, Any, float]:
    """Rows, labels and the accuracy of the truth on them.

    The board has three by three fields: one of four by four needs 31 nodes, and no tree of fewer
    than 30 gets more than 15 of its 16 fields right.
    """
    random = np.random.default_rng(seed)
    X, flipped = random.random((n_rows, 10)), random.random(n_rows) < NOISE
    if name.startswith("xor"):
        truth = parity(X, int(name[3]))
        y = truth ^ flipped if name.endswith("noise") else truth
        return X, y, float(np.mean(y == truth))
    if name == "checkerboard":
        return X, np.floor(X[:, :2] * 3).sum(axis=1) % 2 == 1, 1.0
    if name == "four categories":
        letters = pd.DataFrame(np.array(list("acbd"))[(X * 4).astype(int)]).add_prefix("c")
        return letters, parity(X, 2), 1.0
    words = pd.DataFrame(np.where(X > 0.5, "yes", "no"), columns=[f"c{i}" for i in range(10)])
    return words, parity(X, 3), 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draws", type=int, default=10, help="of each table (default: 10)")
    parser.add_argument("--output", type=Path, default=Path(".runs/bench"), help="where to write")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    for name, title in TABLES.items():
        for seed in range(args.draws):
            X, y, _ = draw(name, seed)
            unseen, labels, best = draw(name, seed + 100)
            for learner, estimator in LEARNERS.items():
                began = time.process_time()
                model = estimator.fit(X, y)
                spent = time.process_time() - began
                found = {"table": title, "learner": learner, "draw": seed, "truth": best}
                found |= {"accuracy": model.score(unseen, labels), "nodes": model.tree_.node_count}
                rows.append({**found, "cpu_seconds": spent})
        how: dict[str, Any] = {"index": False, "float_format": "%.4g", "lineterminator": "\n"}
        pd.DataFrame(rows).to_csv(args.output / "interactions.csv", **how)
        print(title, flush=True)


if __name__ == "__main__":
    main()
