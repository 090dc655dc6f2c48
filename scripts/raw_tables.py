#!/usr/bin/env python
"""Compare GradTree with CART on tables as they come, with text, gaps and any units.

    .venv/bin/python scripts/raw_tables.py
    .venv/bin/python scripts/raw_tables.py iris titanic --output .runs/bench

Writes scores, sizes and processor seconds of five folds to raw_tables.csv; tables that are not
named keep their earlier rows.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets as installed
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score, f1_score, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier as Cart

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from baselines.cart_pruned import search_all_rows
from datasets import load_dataset
from experiments.runner.machine import describe
from gradtree import PAPER
from gradtree import GradTreeClassifier as Tree

INSTALLED = ("iris", "wine", "breast_cancer", "digits")
TABLES = (*INSTALLED, "titanic", "german", "car", "horse-colic", "thyroid", "adult")


def as_it_is(X: Any) -> Any:
    return lambda table: table


def coded(X: Any) -> Any:
    """Categories as numbers in the order of their names."""
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    words = make_column_selector(dtype_exclude="number")
    return make_column_transformer((encoder, words), remainder="passthrough").fit(X).transform


def filled(X: Any) -> Any:
    codes = coded(X)
    fill = SimpleImputer(strategy="median").fit(codes(X)).transform
    return lambda table: fill(codes(table))


def pruned(X: Any, y: Any) -> Any:
    return search_all_rows(Cart(random_state=0), X, y, {"folds": 5, "n_alphas": 20}, 0)


LEARNERS: dict[str, tuple[Any, Any]] = {
    "CART": (coded, Cart(max_depth=7, random_state=0).fit),
    "CART, pruned": (coded, pruned),
    "GradTree, before": (filled, Tree(**{**PAPER, "depth": 7}, random_state=42).fit),
    "GradTree": (as_it_is, Tree(random_state=0).fit),
}
"""How each prepares a table, and how it fits."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)}")
    parser.add_argument("--output", type=Path, default=Path(".runs/bench"), help="where to write")
    args = parser.parse_args()
    unknown = set(args.tables) - set(TABLES)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    args.output.mkdir(parents=True, exist_ok=True)
    path, names = args.output / "raw_tables.csv", args.tables or TABLES
    known = pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=["table"])
    rows = known[~known["table"].isin(names)].to_dict("records")
    draws = np.random.default_rng(0)
    for n_classes in (2, 3):  # compile all that will be timed
        X = pd.DataFrame(draws.normal(size=(60, 3)), columns=list("abc"))
        for prepare, fit in LEARNERS.values():
            fit(prepare(X)(X), draws.integers(n_classes, size=60))
    for name in names:
        rows += measured(name)
        rows.sort(key=lambda row: TABLES.index(row["table"]))
        write(pd.DataFrame(rows), path)
        print(name, flush=True)
    machine = pd.DataFrame(describe()["machine"].items(), columns=["what", "value"])
    write(machine, args.output / "raw_tables_machine.csv")


def measured(name: str) -> list[dict[str, Any]]:
    """Every learner on five folds of a table."""
    if name in INSTALLED:
        X, y = getattr(installed, f"load_{name}")(return_X_y=True, as_frame=True)
        y = np.asarray(y)
    else:
        found = load_dataset(name)
        X, y = found.X[found.y >= 0].reset_index(drop=True), found.y[found.y >= 0]
    rows = []
    for learner, (prepare, fit) in LEARNERS.items():
        folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
        for fold, (train, test) in enumerate(folds):
            began = time.process_time()
            prepared = prepare(X.iloc[train])
            model = fit(prepared(X.iloc[train]), y[train])
            spent = time.process_time() - began
            predicted = model.predict(prepared(X.iloc[test]))
            shares = model.predict_proba(prepared(X.iloc[test]))
            row: dict[str, Any] = {"table": name, "learner": learner, "fold": fold}
            row["accuracy"] = accuracy_score(y[test], predicted)
            row["f1"] = f1_score(y[test], predicted, average="macro")
            ranked = shares[:, 1] if shares.shape[1] == 2 else shares
            row["auc"] = roc_auc_score(y[test], ranked, multi_class="ovr")
            row["log_loss"] = log_loss(y[test], shares)
            rows.append({**row, "nodes": model.tree_.node_count, "cpu_seconds": spent})
    return rows


def write(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path, index=False, float_format="%.4g", lineterminator="\n")


if __name__ == "__main__":
    main()
