"""Whatever is passed to the learner: a clear error, or a tree whose rules are its predictions.

Two hundred random calls of the estimator and of ``fit_table``, over types, shapes, extreme
values, labels and weights. An error must be one that says what is wrong: of the types that
input is refused with, with a sentence, raised on purpose and not by a slip on the way.
"""

import numpy as np
import pandas as pd
import pytest

from gradtree import GradTreeClassifier, fit_table
from gradtree.columns.frames import printed_names

N_CALLS = 200
REFUSALS = (ValueError, TypeError, FloatingPointError)
# What a slip looks like: these words come from the interpreter, not from a check of the input.
SLIPS = ("object is not", "not supported between", "has no attribute", "unpack", "broadcast")
NUMBERS = [0.0, -0.0, 1.0, 1e300, -1e300, 5e-324, np.nan, 2.0**53, 0.1]


def any_cells(rng: np.random.Generator, n: int) -> object:
    """A column of any type."""
    kinds = [
        lambda: rng.normal(size=n),
        lambda: rng.choice(NUMBERS, n),
        lambda: rng.normal(size=n).astype(rng.choice(["f2", "f4", ">f8"])),
        lambda: rng.integers(-3, 4, n).astype(rng.choice(["i1", "i8", "O"])),
        lambda: rng.integers(0, 2**63, n, dtype=np.uint64),
        lambda: rng.random(n) < 0.5,
        lambda: rng.choice(np.array(["a", "b", "", " c ", "ä→", "→ x (1 row)"], dtype=object), n),
        lambda: rng.choice(np.array(["a", None, np.nan, 3, True, 2.5], dtype=object), n),
        lambda: [f"name {i}" for i in range(n)],
        lambda: pd.Categorical(rng.choice(list("xyz"), n), categories=list("wxyz")),
        lambda: pd.Series(rng.integers(0, 5, n), dtype="Int64").where(rng.random(n) < 0.7),
        lambda: pd.Series(rng.random(n) < 0.5, dtype="boolean").where(rng.random(n) < 0.7),
        lambda: pd.Series(rng.choice(["u", "v"], n), dtype="string").where(rng.random(n) < 0.7),
        lambda: pd.Timestamp("1900-01-01") + pd.to_timedelta(rng.integers(0, 10**6, n), "h"),
        lambda: pd.to_timedelta(rng.integers(-500, 500, n), "s"),
        lambda: np.full(n, rng.choice(NUMBERS)),
        lambda: np.full(n, None, dtype=object),
        lambda: np.where(rng.random(n) < 0.1, np.inf, rng.normal(size=n)),
        lambda: rng.normal(size=n) * 1j,
        lambda: [[i] for i in range(n)],
        lambda: [b"a", b"b"] * (n // 2) + [b"c"] * (n % 2),
    ]
    # Columns that must be refused are the rarer ones.
    chances = np.array([6] * 17 + [1] * 3 + [3])
    return kinds[rng.choice(len(kinds), p=chances / chances.sum())]()


def any_labels(rng: np.random.Generator, n: int) -> object:
    kinds = [
        lambda: rng.integers(0, rng.integers(2, 5), n),
        lambda: rng.choice(["yes", "no"], n),
        lambda: rng.random(n) < 0.3,
        lambda: pd.Series(rng.choice(list("pq"), n), dtype="category"),
        lambda: rng.choice([0.0, 1.0, 7.0], n),
        lambda: np.zeros(n),
        lambda: rng.normal(size=n),
        lambda: rng.choice(np.array(["a", 1, None], dtype=object), n),
        lambda: np.full(n, np.nan),
        lambda: rng.integers(0, 2, n + 1),
    ]
    return kinds[rng.choice(10, p=np.array([6, 6, 6, 6, 6, 1, 1, 1, 1, 1]) / 35)]()


def any_weights(rng: np.random.Generator, n: int) -> object:
    kinds = [
        lambda: None,
        lambda: rng.random(n),
        lambda: rng.integers(0, 2, n),
        lambda: rng.choice([1e-300, 1.0, 1e300], n),
        lambda: np.where(rng.random(n) < 0.1, rng.choice([-1.0, np.nan, np.inf]), 1.0),
        lambda: rng.random(n + 1),
    ]
    return kinds[rng.choice(6, p=[0.6, 0.1, 0.1, 0.1, 0.05, 0.05])]()


def any_names(rng: np.random.Generator, width: int) -> list[object]:
    kinds = [
        [f"c{i}" for i in range(width)],
        list(range(width)),
        ["same"] * width,
        [(i, "x") for i in range(width)],
        ["a", 1, 2.5, "b", "c", "d"][:width],
        ["<= 3", "", " ", "in {a}", "ü", "\n"][:width],
    ]
    return kinds[rng.choice(6, p=[0.5, 0.1, 0.1, 0.1, 0.05, 0.15])]


def model_params(rng: np.random.Generator) -> dict[str, object]:
    weights: list[object] = [None, None, None, "balanced", {0: -1.0}, {0: np.nan, 1: 1.0}]
    return {
        "depth": int(rng.integers(1, 4)),
        "epochs": 3,
        "restarts": 0,
        "random_state": 0,
        "scale": [None, "standard", "quantile"][rng.integers(3)],
        "merge_leaves": bool(rng.integers(2)),
        "class_weight": weights[rng.integers(len(weights))],
    }


def call(seed: int) -> str:
    """One random call; says how it ended."""
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(1, 40)), int(rng.integers(1, 7))
    frame = pd.DataFrame({i: any_cells(rng, n) for i in range(width)})
    frame.columns = pd.Index(any_names(rng, width), tupleize_cols=False)
    y, weight = any_labels(rng, n), any_weights(rng, n)
    model = GradTreeClassifier(**model_params(rng))
    way = rng.integers(4)
    try:
        if way == 0 and len(np.asarray(y)) == n:
            with_target = frame.copy()
            with_target.insert(width, "the target", np.asarray(y))
            params = model.get_params()
            model = fit_table(with_target, "the target", sample_weight=weight, **params)
        else:
            if way == 1:
                frame = frame.to_numpy()
            model.fit(frame, y, sample_weight=weight)
    except REFUSALS as error:
        told = str(error)
    else:
        check_rules(model, frame, [column.name for column in model.columns_])
        return "fitted"
    assert len(told) > 10, told
    assert not any(slip in told for slip in SLIPS), told
    return "refused"


def check_rules(model: object, X: object, names: list[str]) -> None:
    """Printed rules route every row as ``predict`` does."""
    assert model.export_text()
    leaves = model.apply(X)
    labels = model.predict(X)
    table = {name: cells_of(X, name, place) for place, name in enumerate(names)}
    for rule in model.rules():
        np.testing.assert_array_equal(rule.holds(table), leaves == rule.leaf)
        assert len(set(labels[leaves == rule.leaf].tolist())) <= 1
    assert np.isfinite(model.predict_proba(X)).all()


def cells_of(X: object, name: str, place: int) -> object:
    if isinstance(X, np.ndarray):
        return X[:, place].astype(float)
    return X.iloc[:, printed_names(list(X.columns)).index(name)]


@pytest.mark.filterwarnings("ignore")
def test_random_calls_end_in_a_right_tree_or_a_clear_error():
    ends = [call(seed) for seed in range(N_CALLS)]
    assert ends.count("fitted") > N_CALLS / 5
    assert ends.count("refused") > N_CALLS / 20
