"""CART: scikit-learn's greedy tree, the paper's strongest competitor.

The authors fit it to the rebalanced training part and the validation part
together, since it needs no early stopping.
"""

from collections.abc import Mapping
from typing import Any

from baselines.contract import Fitted, Learner, Params, Split, Task, over_classes


def defaults(task: Task) -> dict[str, Any]:
    """GradTree's default depth; all else as scikit-learn has it."""
    return {
        "max_depth": 10,
        "criterion": "gini",
        "max_features": None,
        "min_samples_leaf": 1,
        "min_samples_split": 2,
        "ccp_alpha": 0.0,
    }


def translate(row: Mapping[str, str], task: Task) -> dict[str, Any]:
    return {
        "max_depth": int(row["max_depth"]),
        "criterion": row["criterion"],
        "max_features": None if row["max_features"] == "None" else float(row["max_features"]),
        "min_samples_leaf": int(row["min_samples_leaf"]),
        "min_samples_split": int(row["min_samples_split"]),
        "ccp_alpha": float(row["ccp_alpha"]),
    }


def fit(split: Split, params: Params, seed: int) -> Fitted:
    from sklearn.tree import DecisionTreeClassifier

    estimator = DecisionTreeClassifier(**params, random_state=seed)
    estimator.fit(split.X_train_valid, split.y_train_valid, split.weights_train_valid)
    return result(split, estimator)


def result(split: Split, estimator: Any, **extra: Any) -> Fitted:
    """Of a tree of scikit-learn's that was fitted to training and validation rows."""
    from gradtree.trees.tree import Tree

    tree = over_classes(Tree.from_sklearn(estimator), estimator.classes_, split.n_classes)
    X, y = split.X_train_valid, split.y_train_valid
    return Fitted(estimator, X, y, tree, tree.node_count, extra=extra)


LEARNER = Learner(
    slug="cart",
    in_paper=True,
    name="CART",
    group="Greedy",
    version="1",
    defaults=defaults,
    fit=fit,
    takes_weights=True,
    published="hyperparameters_cart.csv",
    translate=translate,
    # The paper's grid is unpublished: these are the values that occur among its 36 winners.
    space={
        "max_depth": (7, 8, 9, 10),
        "criterion": ("gini", "entropy"),
        "min_samples_leaf": (1, 5, 10),
        "min_samples_split": (2, 5, 10, 50),
        "ccp_alpha": (0.0, 0.2, 0.4),
    },
)
