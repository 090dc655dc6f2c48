"""GradTree beside CART on raw tables: scores of five folds, sizes, seconds.

Four tables of scikit-learn and six of the registry, as they come: text, gaps, any units. What a
learner cannot take it gets prepared: CART the ordinal codes of categories; GradTree as it was
before it scaled inside, with the paper's parameters, these codes with gaps filled. Then GradTree as
it is now on the table as it is, on one whose numbers were standardised by hand, and on that one
without its own scaling.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from experiments.bench.files import write_machine
from experiments.core.files import write_files
from gradtree import PAPER, GradTreeClassifier

FILE, MACHINE = "raw_tables.csv", "raw_tables_machine.csv"
INSTALLED = ("iris", "wine", "breast_cancer", "digits")
REGISTERED = ("titanic", "german", "car", "horse-colic", "thyroid", "adult")
FOLDS = 5
DEPTH = 7
"""GradTree's default, for all that have a depth."""

Table = tuple[pd.DataFrame, NDArray[Any]]


@dataclass(frozen=True)
class Score:
    """How one learner did in one fold of one table; ``cpu_seconds`` are those of its fit."""

    table: str
    learner: str
    fold: int
    accuracy: float
    f1: float
    nodes: int
    cpu_seconds: float


class PrunedCart(ClassifierMixin, BaseEstimator):
    """CART at the price per leaf that five inner folds choose."""

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> PrunedCart:
        from baselines.cart_pruned import search_all_rows

        grower = DecisionTreeClassifier(random_state=0)
        self.found_ = search_all_rows(grower, X, y, {"folds": FOLDS, "n_alphas": 20}, 0)
        self.tree_ = self.found_.tree_
        return self

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.found_.predict(X))


def _codes() -> Any:
    """Categories as numbers in the order of their names, numbers as they are."""
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    words = make_column_selector(dtype_exclude="number")
    return make_column_transformer((encoder, words), remainder="passthrough")


class Standardised(TransformerMixin, BaseEstimator):
    """A table with its numbers standardised, all else and the order of columns as they are."""

    def fit(self, X: pd.DataFrame, y: Any = None) -> Standardised:
        numbers = X.select_dtypes("number")
        self.mean_, self.spread_ = numbers.mean(), numbers.std().replace(0.0, 1.0)
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        numbers = (X[self.mean_.index] - self.mean_) / self.spread_
        return X.assign(**{name: numbers[name] for name in numbers})


LEARNERS: dict[str, Callable[[], Any]] = {
    "CART": lambda: make_pipeline(
        _codes(), DecisionTreeClassifier(max_depth=DEPTH, random_state=0)
    ),
    "CART, pruned": lambda: make_pipeline(_codes(), PrunedCart()),
    "GradTree, before": lambda: make_pipeline(
        _codes(),
        SimpleImputer(strategy="median"),
        GradTreeClassifier(**{**PAPER, "depth": DEPTH}, random_state=42),
    ),
    "GradTree": lambda: GradTreeClassifier(random_state=0),
    "GradTree, scaled by hand": lambda: make_pipeline(
        Standardised(), GradTreeClassifier(random_state=0)
    ),
    "GradTree, scaled by hand alone": lambda: make_pipeline(
        Standardised(), GradTreeClassifier(scale=None, random_state=0)
    ),
}


def tables(names: Iterable[str]) -> Iterator[tuple[str, Table]]:
    """The tables of these names."""
    for name in names:
        if name in INSTALLED:
            from sklearn import datasets as installed

            yield name, getattr(installed, f"load_{name}")(return_X_y=True, as_frame=True)
        else:
            from datasets import load_dataset

            found = load_dataset(name)
            yield name, (found.X[found.y >= 0], found.y[found.y >= 0])


def scores(name: str, table: Table, learners: Iterable[str] = tuple(LEARNERS)) -> Iterator[Score]:
    """Every fold of every learner on one table."""
    X, y = table[0].reset_index(drop=True), np.asarray(table[1])
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))
    for learner in learners:
        for fold, (train, test) in enumerate(folds):
            model = LEARNERS[learner]()
            began = time.process_time()
            model.fit(X.iloc[train], y[train])
            spent = time.process_time() - began
            predicted = model.predict(X.iloc[test])
            yield Score(
                table=name,
                learner=learner,
                fold=fold,
                accuracy=float(accuracy_score(y[test], predicted)),
                f1=float(f1_score(y[test], predicted, average="macro")),
                nodes=_nodes(model[-1] if hasattr(model, "steps") else model),
                cpu_seconds=spent,
            )


def _nodes(model: BaseEstimator) -> int:
    return int(model.tree_.node_count)


def warm_up() -> None:
    """Compile all that will be timed."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    for y in (rng.integers(0, 2, 60), rng.integers(0, 3, 60)):
        for learner in LEARNERS:
            LEARNERS[learner]().fit(X, y)


def read(path: Path) -> list[Score]:
    """What ``write`` wrote; nothing if there is no such file."""
    if not path.exists():
        return []
    kinds = {"str": str, "int": int, "float": float}
    as_kind = {field.name: kinds[str(field.type)] for field in fields(Score)}
    with path.open(newline="") as file:
        return [
            Score(**{name: as_kind[name](value) for name, value in row.items()})
            for row in csv.DictReader(file)
        ]


def write(output: Path, names: Iterable[str]) -> Path:
    """Measure the named tables and write them beside those that were measured before."""
    names = list(names)
    path = output / FILE
    kept = [score for score in read(path) if score.table not in names]
    warm_up()
    for name, table in tables(names):
        kept += scores(name, table)
        kept.sort(key=lambda score: (*INSTALLED, *REGISTERED).index(score.table))
        write_files(output, {FILE: _text(kept)})
        print(f"{name}: done", flush=True)
    write_machine(output / MACHINE)
    return path


def _text(measured: list[Score]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Score)], lineterminator="\n")
    writer.writeheader()
    for score in measured:
        row = asdict(score)
        writer.writerow({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()})
    return text.getvalue()
