"""Runs inside the side environment of ``genetic_original``, on Python 3.8.

Reads ``task.npz`` from the folder it is given, fits the library's classifier with the parameters
and the seed that it is given, and leaves ``result.npz`` there. Uses nothing of this suite.
"""

import json
import sys
import warnings

import numpy as np
from genetic_tree import GeneticTree, Metric

PARAMETERS_SET_LATER = ("n_trees", "max_iter", "cross_prob", "mutation_prob")

folder, order, seed = sys.argv[1:]
params = json.loads(order)
# A default classifier whose parameters are set then, as the authors do.
later = {name: params.pop(name) for name in PARAMETERS_SET_LATER if name in params}
penalty = params.pop("depth_penalty", 0.01)
if penalty == 0:
    params["metric"] = Metric.Accuracy
else:
    params["depth_factor"] = penalty
warnings.simplefilter("ignore")
model = GeneticTree(random_state=int(seed), early_stopping=True, **params)
model.set_params(**later)
with np.load(folder + "/task.npz") as task:
    model.fit(task["X"], task["y"])
    predicted = model.predict(task["unseen"])
tree = model._best_tree
np.savez(
    folder + "/result.npz",
    left=tree.children_left,
    right=tree.children_right,
    feature=tree.feature,
    threshold=tree.threshold,
    predicted=predicted,
    best_fitness=np.array(model.metric_best),
)
