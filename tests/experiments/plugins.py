"""Plug-in files for the tests: small tables, a learner, and what they may get wrong."""

from pathlib import Path

from experiments.runner import registry

LEARNER = """\
import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from baselines import Fitted, Learner


def fit(split, params, seed):
    X, y = split.X_train_valid, split.y_train_valid
    model = DecisionTreeClassifier(**params, random_state=seed).fit(X, y)
    return Fitted(model, X, y, tree=None, size=model.tree_.node_count)


def defaults(task):
    return {"max_depth": 2}


LEARNER = Learner("shallow", "Shallow tree", "1", defaults, fit, space={"max_depth": [1, 2, 3]})
"""
TABLES = """
_x = np.random.default_rng(0).normal(size=(120, 3))
_frame = pd.DataFrame(_x, columns=["a", "b", "c"]).assign(
    kind=np.where(_x[:, 0] > 0, "left", "right"), y=np.where(_x[:, 0] + _x[:, 1] > 0, "yes", "no")
)
_frame.loc[::9, "b"] = None
DATASETS = {"My shop": (_frame, "y")}
"""
BOTH = LEARNER + TABLES


def forget() -> None:
    """Read every plug-in anew."""
    registry.imported.cache_clear()
    registry._entries.cache_clear()


def write(folder: Path, text: str, name: str = "mine.py") -> Path:
    """A plug-in, in the place of what it was before."""
    forget()
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
