"""Small data to train on, and settings that train in a blink."""

import io
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gradtree import PAPER, GradTreeClassifier, GradTreeRegressor


def quick(**params: Any) -> GradTreeClassifier:
    """The paper's method, short, on columns of any scale."""
    settings = {
        **PAPER,
        "stream": "numpy",
        "scale": "quantile",
        "depth": 4,
        "lr_leaf": 0.05,
        "epochs": 100,
        "patience": 40,
        "restarts": 1,
        "batch_size": 32,
        "random_state": 0,
    }
    return GradTreeClassifier(**(settings | params))


def revised(**params: Any) -> GradTreeClassifier:
    """The estimator's own defaults, short."""
    settings = {"depth": 4, "epochs": 60, "patience": 30, "restarts": 1, "random_state": 0}
    return GradTreeClassifier(**(settings | params))


def regressor(**params: Any) -> GradTreeRegressor:
    """The regressor, short."""
    settings = {"depth": 4, "epochs": 60, "patience": 30, "restarts": 1, "random_state": 0}
    return GradTreeRegressor(**(settings | params))


def boxes(
    n_rows: int = 300, n_classes: int = 2, seed: int = 0, n_features: int = 4
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Classes in boxes that a few axis-aligned splits tell apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    y = (X[:, 0] > 0.2).astype(np.int64)
    if n_classes > 2:
        y += (n_classes - 2) * (X[:, 1] > 0.4)
    return X, y


def passengers(n_rows: int = 300, seed: int = 0) -> pd.DataFrame:
    """A table as people have it: numbers, text, gaps, an identifier, a date, a constant."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["male", "female"], n_rows)
    age = np.where(rng.random(n_rows) < 0.15, np.nan, rng.integers(1, 80, n_rows))
    chance = np.where(sex == "female", 0.9, 0.1)
    return pd.DataFrame(
        {
            "id": np.arange(1, n_rows + 1),
            "name": [f"passenger {i}" for i in range(n_rows)],
            "sex": sex,
            "age": age,
            "port": rng.choice(np.array(["S", "C", "Q", None]), n_rows, p=[0.5, 0.2, 0.2, 0.1]),
            "cabin": pd.Series(rng.integers(1, 4, n_rows), dtype="Int64"),
            "alone": rng.random(n_rows) < 0.5,
            "boarded": pd.Timestamp("1912-04-10"),
            "ship": "Titanic",
            "survived": np.where(rng.random(n_rows) < chance, "yes", "no"),
        }
    )


def goods(n_rows: int = 300) -> tuple[pd.DataFrame, NDArray[np.float64]]:
    """A category, a number with gaps and a date, and the price that they make."""
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b", "c", "d"], n_rows)
    size = np.where(rng.random(n_rows) < 0.2, np.nan, rng.random(n_rows))
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n_rows), "D")
    y = 5.0 * np.isin(kind, ["b", "d"]) + 3.0 * (size > 0.5) + 8.0 * (day > "2024-06-01")
    return pd.DataFrame({"kind": kind, "size": size, "day": day}), y + 0.1 * rng.random(n_rows)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True
