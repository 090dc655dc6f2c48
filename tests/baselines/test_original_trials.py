"""The original programs, trial by trial: what they gave on a processor, we give too.

The fixtures hold the figures of the authors' class, tuned, with the paper's splits and four runs a
trial, and of the library ``genetic-tree``. Sums in another order may send a training of GradTree
elsewhere, as they do in one trial, which is one of the two that a rounding moves.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sklearn.metrics import f1_score

import baselines
from datasets import load_dataset, make_split, record, resolve

DIGITS = {"gradtree": 5e-5 + 1e-9, "genetictree": 1.5e-6}
DIFFERING = [("gradtree", "Echocardiogram", 2)]


def trials() -> Iterator[Any]:
    for slug in DIGITS:
        rows = pd.read_csv(Path(__file__).parent / "fixtures" / f"{slug}_original.csv")
        for row in rows.to_dict("records"):
            place = (slug, row["dataset"], row["trial"])
            at_hand = place[:2] == ("genetictree", "Wine")
            name = "-".join(map(str, (*place, row.get("setting", "tuned"))))
            yield pytest.param(*place, row, id=name, marks=() if at_hand else pytest.mark.mirror)


@pytest.mark.parametrize(("slug", "dataset", "trial", "row"), trials())
def test_a_trial_of_the_original_program_is_repeated(slug, dataset, trial, row):
    """The same scores, and a tree of the same size."""
    learner, known = baselines.learner(slug), record(resolve(dataset))
    params = baselines.published_params(slug, dataset, known.task)
    if row.get("setting") == "default":
        params = learner.defaults(known.task)
    if slug == "genetictree":  # recorded with the printed one
        params["mutation_prob"] = round(params["mutation_prob"], 1)
    split = make_split(load_dataset(known.slug), "paper", trial)
    fitted = learner.fit(split, params, 42)
    parts = {"test_f1": (split.X_test, split.y_test), "train_f1": (fitted.X_fit, fitted.y_fit)}
    same = fitted.size == row["node_count"]
    same &= fitted.tree.depth == row.get("depth", fitted.tree.depth)
    for name, (X, y) in parts.items():
        score = f1_score(y, fitted.estimator.predict(X), average="macro")
        same &= abs(score - row[name]) < DIGITS[slug]
    assert same == ((slug, dataset, trial) not in DIFFERING)
