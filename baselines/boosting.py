"""Beyond the paper: histogram gradient boosting, to see what having one small tree costs."""

from typing import Any

from baselines.contract import Fitted, Learner, Params, Split, Task


def defaults(task: Task) -> dict[str, Any]:
    return {"learning_rate": 0.1, "max_iter": 100, "max_leaf_nodes": 31, "min_samples_leaf": 20}


def fit(split: Split, params: Params, seed: int) -> Fitted:
    from sklearn.ensemble import HistGradientBoostingClassifier

    X, y = split.X_train_valid, split.y_train_valid
    estimator = HistGradientBoostingClassifier(**params, early_stopping=False, random_state=seed)
    estimator.fit(X, y)
    return Fitted(estimator, X, y, tree=None, size=None, epochs=int(estimator.n_iter_))


LEARNER = Learner(
    slug="boosting",
    name="Gradient boosting",
    version="1",
    defaults=defaults,
    fit=fit,
    space={
        "learning_rate": (0.03, 0.1, 0.3),
        "max_iter": (50, 100, 300),
        "max_leaf_nodes": (7, 15, 31),
        "min_samples_leaf": (5, 20, 50),
    },
)
