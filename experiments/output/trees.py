"""Stored trees: one JSON file per dataset, drawn without data or learners.

``<folder>/<slug>.json``::

    {"format": "gradtree-report-trees/1",
     "dataset": "iris",
     "trees": [{"method": "cart", "experiment": "tuned", "protocol": "paper", "trial": 0,
                "seed": 42, "test_f1": 0.93, "class_names": [...],
                "tree": <Tree.to_dict()>,
                "splits": {"0": ["petal width", "≤ 0.8", "> 0.8"], ...}}]}

``tree`` is the tree as learned, on preprocessed columns; ``splits`` says for each inner node which
raw column it tests and what sends a row left or right.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from experiments.analysis.runs import Runs
from experiments.errors import UserError
from experiments.output.files import put
from experiments.text import NO_NEW_ROW

FORMAT = "gradtree-report-trees/1"
FOLDER = "trees"
CODES = (
    "Conditions are those for new rows. Training rows have codes of their own: the mean label of "
    "the other rows in their category, which depends on their own label. So the counts are not "
    f"always those of the rows that fulfil the conditions, and a branch marked “{NO_NEW_ROW}” was "
    "taken by training rows alone."
)
Entry = Mapping[str, Any]


def write_trees(folder: Path, dataset: str, entries: Iterable[Entry]) -> Path:
    """Write the file of one dataset."""
    content = {"format": FORMAT, "dataset": dataset, "trees": list(entries)}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return put(folder / f"{dataset}.json", f"{text}\n".encode())


def read_trees(folder: Path, dataset: str) -> list[dict[str, Any]]:
    """The stored trees of a dataset; none if it has no file."""
    path = folder / f"{dataset}.json"
    if not path.is_file():
        return []
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] == FORMAT:
            return list(content["trees"])
    except (ValueError, KeyError, TypeError):
        pass
    raise UserError(
        f"{path} holds no trees of format {FORMAT!r}; write it again with "
        f"`python -m experiments trees --dataset {dataset}`"
    )


def codes_note(dataset: Mapping[str, Any], protocol: str) -> str:
    """What codes the training rows of a dataset have, where they differ from those of new rows."""
    return CODES if dataset.get("categorical") and protocol.startswith("paper") else ""


def tree_data(entry: Entry, runs: Runs, dataset: str) -> dict[str, Any]:
    """What the page draws: an inner node is ``[column, left condition, right condition, left node,
    right node]``, with 0 for the opposite of a left ``≤``; a leaf ``[class, its share, rows]``.
    """
    tree = entry["tree"]
    size = "1 node" if len(tree["feature"]) == 1 else f"{len(tree['feature'])} nodes"
    score = "" if entry["test_f1"] is None else f", test F1 {entry['test_f1']:.3f}"
    counts = tree.get("n_node_samples")
    order, nodes = [0], dict[int, list[Any]]()
    for at in order:  # every node after its parent
        if tree["children_left"][at] >= 0:
            order += [tree["children_left"][at], tree["children_right"][at]]
    for at in reversed(order):
        left, right = tree["children_left"][at], tree["children_right"][at]
        if left < 0:
            shares = tree["value"][at]
            best = max(range(len(shares)), key=shares.__getitem__)
            nodes[at] = [best, round(shares[best], 2), counts[at] if counts else None]
            continue
        column, low, high = entry["splits"][str(at)]
        opposite = low.startswith("≤ ") and high == f"> {low[2:]}"
        nodes[at] = [column, low, 0 if opposite else high, nodes.pop(left), nodes.pop(right)]
    note = codes_note(runs.datasets.get(dataset, {}), entry["protocol"])
    return {
        "name": runs.name(entry["method"]),
        "caption": f"Trial {entry['trial']} of protocol {entry['protocol']}: {size}{score}. "
        f"A leaf has its class, the share of that class and the number of training rows. {note}",
        "classes": [str(name) for name in entry["class_names"]],
        "root": nodes[0],
    }
