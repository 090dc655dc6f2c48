"""Runs inside the side environment of ``genetic_original``, on Python 3.8.

Reads ``task.npz`` from the folder it is given, fits the library's classifier
and leaves ``result.npz`` there. Uses nothing of this suite.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from genetic_tree import GeneticTree, Metric

PARAMETERS_SET_LATER = ("n_trees", "max_iter", "cross_prob", "mutation_prob")


def fit(X, y, params, seed):  # type: ignore[no-untyped-def]
    """Build a default classifier and then set its parameters, as the authors do."""
    later = {name: params.pop(name) for name in PARAMETERS_SET_LATER if name in params}
    penalty = params.pop("depth_penalty", 0.01)
    if penalty == 0:
        params["metric"] = Metric.Accuracy
    else:
        params["depth_factor"] = penalty
    model = GeneticTree(random_state=seed, early_stopping=True, **params)
    model.set_params(**later)
    return model.fit(X, y)


def main(folder):  # type: ignore[no-untyped-def]
    warnings.simplefilter("ignore")
    with np.load(str(folder / "task.npz")) as task:
        X, y, unseen = task["X"], task["y"], task["unseen"]
    order = json.loads((folder / "order.json").read_text())
    began = time.process_time()
    model = fit(X, y, order["params"], order["seed"])
    cpu_seconds = time.process_time() - began
    tree = model._best_tree
    np.savez(
        str(folder / "result.npz"),
        left=tree.children_left,
        right=tree.children_right,
        feature=tree.feature,
        threshold=tree.threshold,
        predicted=model.predict(unseen),
        best_fitness=np.array(model.metric_best),
        cpu_seconds=cpu_seconds,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
