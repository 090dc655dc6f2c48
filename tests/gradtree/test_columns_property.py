"""What is printed is what is predicted, on five hundred random tables."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from mixed_tables import KINDS, printed_leaves, random_labels, random_table, satisfies

from gradtree import GradTreeClassifier, Tree
from gradtree.units.conditions import NOTHING


def small_model(seed: int, rng: np.random.Generator) -> GradTreeClassifier:
    return GradTreeClassifier(
        depth=int(rng.integers(2, 5)),
        epochs=12,
        restarts=0,
        lr_index=0.3,
        lr_values=0.2,
        lr_leaf=0.3,
        batch_size=32,
        scale=[None, "standard", "quantile", "quantile"][seed % 4],
        merge_leaves=bool(seed % 3),
        random_state=seed,
    )


@pytest.mark.parametrize("block", range(10))
def test_every_row_fulfils_one_printed_leaf_and_it_is_the_one_that_predicts(block):
    n_leaves = 0
    for seed in range(50 * block, 50 * block + 50):
        rng = np.random.default_rng(seed)
        kinds = rng.choice(KINDS, int(rng.integers(1, 7))).tolist()
        table = random_table(rng, int(rng.integers(20, 160)), kinds)
        y = random_labels(rng, table, int(rng.integers(2, 6)))
        model = small_model(seed, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.fit(table, y)
        rules = model.rules()
        n_leaves += len(rules)
        check_rules(model, rules, table)
        check_rules(model, rules, random_table(rng, 60, kinds, known=False))
        check_text(model, table)
        assert Tree.from_json(model.tree_.to_json()) == model.tree_
    assert n_leaves > 150


def check_rules(model, rules, table):
    """Every row fulfils the rule of the leaf that it reaches and no other."""
    leaves = model.apply(table)
    for rule in rules:
        np.testing.assert_array_equal(rule.holds(table), leaves == rule.leaf, err_msg=str(rule))
    best = {rule.leaf: rule.prediction for rule in rules}
    np.testing.assert_array_equal([best[leaf] for leaf in leaves], model.predict(table).astype(str))


def check_text(model, table):
    """Read as text, every training row is in one leaf, and leaves state their numbers of rows."""
    text = model.export_text()
    assert NOTHING not in text
    assert "anything" not in text
    known = training_rows(model, table)
    covered = np.zeros(len(table), dtype=int)
    for conditions, stated in printed_leaves(text):
        holds = np.ones(len(table), dtype=bool)
        for condition in conditions:
            before = holds
            holds = holds & satisfies(table, condition)
            # Both sides of every split have rows, so no condition is empty or always true.
            assert 0 < holds.sum() < before.sum(), f"{condition} in\n{text}"
        covered += holds
        if known.all():
            assert holds.sum() == stated
    assert (covered[known] == 1).all()


def training_rows(model, table):
    """Rows without a category that only validation rows have: the text says nothing of those."""
    known = np.ones(len(table), dtype=bool)
    for column, name in zip(model.columns_, table.columns, strict=True):
        if column.kind == "category" or not column.gaps:
            unseen = np.isnan(column.coded(table[name]))
            known &= ~unseen | (column.gaps & table[name].isna().to_numpy())
    return known
