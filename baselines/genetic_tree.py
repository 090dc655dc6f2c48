"""GeneticTree: a tree bred by a genetic algorithm, with and without its depth penalty.

The authors fit it, like CART, to the rebalanced training part and the
validation part together. Given their seed, ours grows the tree that their
library grows; see ``baselines.algorithms.genetic``.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from baselines.contract import Fitted, Learner, Params, Split, Task, over_classes

PENALTY_PER_LEVEL = 0.01

# The authors' search took its shares from floating-point arithmetic, and the rounding
# error makes one mutant more: 500 * 0.6000000000000001 is above 300. Their files also
# have 0.30000000000000004, which their reader of CSV rounded to 0.3.
AS_SEARCHED = {"0.6": 0.6000000000000001, "0.7": 0.7000000000000001}


def defaults(task: Task, depth_penalty: float) -> dict[str, Any]:
    """As the library has it, with early stopping."""
    return {
        "n_thresholds": 10,
        "n_trees": 400,
        "max_iter": 500,
        "cross_prob": 0.6,
        "mutation_prob": 0.4,
        "depth_penalty": depth_penalty,
    }


def translate(row: Mapping[str, str], task: Task) -> dict[str, Any]:
    """One row of the paper's table, with the share of mutants that its runs had."""
    share = row["mutation_prob"]
    return {
        "n_thresholds": int(row["n_thresholds"]),
        "n_trees": int(row["n_trees"]),
        "max_iter": int(row["max_iter"]),
        "cross_prob": float(row["cross_prob"]),
        "mutation_prob": AS_SEARCHED.get(share, float(share)),
    }


def skip(n_features: int, n_classes: int) -> str | None:
    """Mutation swaps a feature or a class for another one; the original dies without one."""
    if n_features < 2:
        return "n<2"
    return "c<2" if n_classes < 2 else None


def fit(split: Split, params: Params, seed: int) -> Fitted:
    from baselines.algorithms.genetic.estimator import GeneticTreeClassifier

    X, y = split.X_train_valid, split.y_train_valid
    estimator = GeneticTreeClassifier(**params, random_state=seed).fit(X, y)
    tree = over_classes(estimator.tree_, estimator.classes_, split.n_classes)
    return Fitted(estimator, X, y, tree, tree.node_count, estimator.n_iter_)


def variant(slug: str, name: str, depth_penalty: float) -> Learner:
    return Learner(
        slug=slug,
        in_paper=True,
        name=name,
        group="Non-greedy",
        version="1",
        defaults=partial(defaults, depth_penalty=depth_penalty),
        fit=fit,
        skip=skip,
        published="hyperparameters_genetictree.csv",
        translate=translate,
        # The paper's grid is unpublished: these are the values that occur among its 36 winners.
        space={
            "n_trees": (50, 100, 250, 400, 500),
            "max_iter": (50, 100, 250, 500),
            "cross_prob": (0.2, 0.4, 0.6, 0.8, 1.0),
            "mutation_prob": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
        },
    )


LEARNERS = (
    variant("genetictree", "GeneticTree", PENALTY_PER_LEVEL),
    variant("genetictree-no-penalty", "GeneticTree without penalty", 0.0),
)
