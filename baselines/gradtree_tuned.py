"""Beyond the paper: GradTree with its own defaults, its depth and price of a leaf tuned.

Both are chosen by the folds of real rows, without copies: class weights do their work. One
training per depth and fold answers for all prices and caps, with two runs (``fold_restarts``)
where the final one has 16. ``max_leaves`` (0: any number) cuts weakest links, in folds too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from baselines.contract import Fitted, Learner, Params, SplitLike, Task
from baselines.gradtree_variants import NEW_DEFAULTS, UNCUT, grown

if TYPE_CHECKING:
    from gradtree import GradTreeClassifier
    from gradtree.trees.tree import Tree

CHOSEN = ("depth", "ccp_alpha", "max_leaf_nodes")
DEPTHS = (3, 5, 7)  # of 8 leaves, of 32 leaves, and the default
PRICES = (0.04, 0.02, 0.01, 0.005, 0.0025, 0.00125, 0.0006, 0.0003, 0.0)
"""Of a leaf, twice as dear from one to the next, around the default; then none."""


def defaults(task: Task) -> dict[str, Any]:
    fixed = {name: value for name, value in NEW_DEFAULTS.items() if name not in CHOSEN}
    return {**fixed, "max_leaves": 0, "fold_restarts": 1}


def fit(split: SplitLike, params: Params, seed: int) -> Fitted:
    from baselines.algorithms.gradtree_trainings import Trainings
    from baselines.algorithms.inner_folds import best_of, inner_folds, macro_f1, real_rows
    from gradtree import PAPER

    trainings = Trainings(split, params, seed)
    settings = {**PAPER, **params, **UNCUT, "random_state": seed}
    most = settings.pop("max_leaves") or None
    settings["restarts"] = settings.pop("fold_restarts")
    trained = [{**settings, "depth": depth} for depth in DEPTHS]
    n_real, classes = len(real_rows(split)[1]), np.arange(split.n_classes)
    candidates = [{"depth": depth, "ccp_alpha": price} for depth in DEPTHS for price in PRICES]
    scores = []
    for number, fold in enumerate(inner_folds(split, seed)):
        own = n_real - len(fold.y_held)  # copies stand behind the rows of the fold
        X, y = fold.X[:own], fold.y[:own]
        models = [trainings.get(each, number, X, y, classes=classes) for each in trained]
        labels = [t.predict(fold.X_held) for one in models for t in cut_back(one, X, y, most)]
        scores.append([macro_f1(fold.y_held, each, split.n_classes) for each in labels])
    chosen = best_of(candidates, np.array(scores))
    final = {name: value for name, value in params.items() if name in NEW_DEFAULTS}
    fitted = grown(split, {**final, **chosen, "max_leaf_nodes": most}, seed, trainings)
    return replace(fitted, extra={"chosen": chosen})


def cut_back(
    model: GradTreeClassifier, X: NDArray[np.float64], y: NDArray[np.int64], most: int | None
) -> list[Tree]:
    """The trees that the model, grown at no price, would be at each price."""
    from gradtree.inputs.arrays import class_weights
    from gradtree.trees.simplify import Labelled, counted, merged, pruned

    weights = class_weights(model.class_weight, y, model.classes_)
    rows = Labelled(X, y, np.ones(len(y)) if weights is None else weights[y])
    tree, weight = counted(model.tree_, rows)
    return [merged(pruned(tree, weight, price, most)[0])[0] for price in PRICES]


LEARNER = Learner(
    slug="gradtree-tuned",
    name="GradTree (new defaults and tuned)",
    version="1",
    defaults=defaults,
    fit=fit,
    in_paper=False,
)
