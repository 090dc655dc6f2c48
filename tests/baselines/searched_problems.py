"""Problems for searched trees, and the trees that pydl8.5 finds on them."""

import json
from pathlib import Path

import numpy as np

from baselines.algorithms.yes_no_tree import Leaf, Node

FIXTURE = Path(__file__).parent / "fixtures" / "dl85_library_trees.json"
RECORDED = json.loads(FIXTURE.read_text()) if FIXTURE.exists() else {}
"""case -> for seeds 0, 1, …: tree and errors of pydl8.5, see ``record_dl85_library.py``"""

CASES = [
    (depth, max_columns, min_sup)
    for depth, max_columns in ((1, 30), (2, 30), (3, 25), (4, 20), (5, 10))
    for min_sup in (1, 2, 5)
]
"""depth, most columns, fewest rows in a leaf"""


def problem(seed: int, max_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a few to a few hundred, some columns rare, two to five classes, many ties."""
    random = np.random.default_rng(seed)
    n_rows, n_classes = int(random.integers(5, 300)), int(random.integers(2, 6))
    n_columns = int(random.integers(2, max_columns + 1))
    columns = random.random((n_rows, n_columns)) < random.uniform(0.02, 0.9, n_columns)
    labels = (columns[:, :3].sum(axis=1) + random.integers(0, n_classes, n_rows)) % n_classes
    return columns, np.unique(labels, return_inverse=True)[1]


def hard_problem() -> tuple[np.ndarray, np.ndarray]:
    """Pure noise: nothing can be pruned."""
    random = np.random.default_rng(0)
    return random.random((2000, 150)) < 0.5, random.integers(0, 2, 2000)


def text(node: Node) -> str:
    if isinstance(node, Leaf):
        return str(node.label)
    return f"({node.column} {text(node.yes)} {text(node.no)})"
