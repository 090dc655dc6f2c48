"""What is printed is what is predicted, on five hundred random tables."""

import re
import warnings
from datetime import datetime

import numpy as np
import pandas as pd
import pytest

from gradtree import GradTreeClassifier, Tree
from gradtree.units.conditions import NOTHING


def small_model(seed: int, rng: np.random.Generator) -> GradTreeClassifier:
    depth, scale = int(rng.integers(2, 5)), [None, "standard", "quantile", "quantile"][seed % 4]
    short = {"epochs": 12, "restarts": 0, "batch_size": 32, "random_state": seed}
    rates = {"lr_index": 0.3, "lr_values": 0.2, "lr_leaf": 0.3}
    ending = {"scale": scale, "merge_leaves": bool(seed % 3)}
    return GradTreeClassifier(depth=depth, **short, **rates, **ending)


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


TOWNS = np.array(["Ulm", "Bonn", "Köln", "St. Gallen", "Bad Ems", "X", "Y", "Z"], dtype=object)


def random_table(
    rng: np.random.Generator, n_rows: int, kinds: list[str], known: bool = True
) -> pd.DataFrame:
    """Columns of the given kinds; rows that are not ``known`` bring gaps and new categories."""
    return pd.DataFrame(
        {f"{kind} {place}": _column(rng, n_rows, kind, known) for place, kind in enumerate(kinds)}
    )


KINDS = [
    *("ties", "numbers", "small", "whole", "nullable", "gappy", "text", "rare", "gappy text"),
    *("category", "flag", "date", "moment", "constant", "empty"),
]


def _column(rng: np.random.Generator, n: int, kind: str, known: bool) -> pd.Series:
    new_gap = rng.random(n) < (0.0 if known else 0.1)
    if kind in ("text", "rare", "gappy text", "category"):
        chances = np.ones(8) if kind != "rare" else 0.4 ** np.arange(8)
        if known:
            chances[6:] *= kind != "text"
        cells = rng.choice(TOWNS, n, p=chances / chances.sum())
        if not known:
            cells[rng.random(n) < 0.1] = "never seen"
        if kind == "gappy text":
            cells[rng.random(n) < 0.3] = rng.choice(np.array([None, np.nan], dtype=object))
        cells[new_gap] = None
        return pd.Series(cells, dtype="category" if kind == "category" else object)
    if kind == "flag":
        return pd.Series(rng.random(n) < 0.4)
    if kind in ("date", "moment"):
        unit = "D" if kind == "date" else "s"
        steps = rng.integers(0, 400 if kind == "date" else 4_000_000, n)
        times = pd.Timestamp("2019-11-30") + pd.to_timedelta(steps, unit=unit)
        return pd.Series(times).where(~new_gap)
    numbers = {
        "ties": lambda: rng.integers(0, 4, n) / 3,
        "numbers": lambda: rng.lognormal(0, 2, n),
        "small": lambda: rng.normal(0, 1e-7, n),
        "whole": lambda: rng.integers(-50, 50, n).astype(float),
        "nullable": lambda: rng.integers(0, 9, n).astype(float),
        "gappy": lambda: rng.normal(size=n),
        "constant": lambda: np.full(n, 3.5),
        "empty": lambda: np.full(n, np.nan),
    }[kind]()
    gaps = new_gap | (rng.random(n) < (0.2 if kind in ("gappy", "nullable") else 0.0))
    cells = pd.Series(np.where(gaps, np.nan, numbers))
    return cells.astype("Int64") if kind == "nullable" else cells


def random_labels(rng: np.random.Generator, table: pd.DataFrame, n_classes: int) -> np.ndarray:
    """Classes that depend on some columns, with noise, each of them present."""
    score = rng.normal(0, 0.3, len(table))
    for name in table.columns[rng.random(table.shape[1]) < 0.6]:
        codes, _ = pd.factorize(table[name], sort=table[name].dtype.kind != "O")
        effect = rng.normal(size=codes.max() + 2)
        if table[name].dtype.kind in "fiM":
            effect = np.sort(effect)
        score += effect[codes]
    borders = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    labels = np.digitize(score, borders)
    labels[:n_classes] = np.arange(n_classes)
    return labels


def printed_leaves(text: str) -> list[tuple[list[str], int]]:
    """The conditions on the way to every leaf of a printed tree, and the rows it states."""
    leaves, way = [], []
    for line in text.splitlines():
        margin, condition = re.match(r"^([│ ]*(?:├─|└─) |)(.*)$", line).groups()
        depth = len(margin) // 3
        condition, _, verdict = condition.partition("→ ")
        way[max(depth - 1, 0) :] = [condition.strip()] if condition else []
        if verdict:
            leaves.append((list(way), int(re.search(r"(\d+) rows?\)$", verdict).group(1))))
    return leaves


def satisfies(table: pd.DataFrame, condition: str) -> np.ndarray:
    """Which rows fulfil a printed condition, read as a person would."""
    name = max((c for c in table.columns if condition.startswith(f"{c} ")), key=len)
    says = condition[len(name) + 1 :]
    column = table[name]
    gaps = column.isna().to_numpy()
    if says in ("is missing", "is known"):
        return gaps if says == "is missing" else ~gaps
    numeric = re.match(r"^(<=|>) (.+?)( or missing)?$", says)
    if numeric:
        sign, border, missing = numeric.groups()
        if column.dtype.kind == "M":
            below = (column <= datetime.fromisoformat(border)).to_numpy(dtype=bool)
        else:
            below = column.to_numpy(dtype=float, na_value=np.nan) <= float(border)
        return np.where(gaps, bool(missing), below if sign == "<=" else ~below)
    members, outside = _members(says)
    cells = np.array(["missing" if gap else str(c) for gap, c in zip(gaps, column, strict=True)])
    inside = np.isin(cells, members)
    return ~inside if outside else inside


def _members(says: str) -> tuple[list[str], bool]:
    listed = re.match(r"^(not )?in \{(.*)\}$", says)
    if listed:
        return listed.group(2).split(", "), bool(listed.group(1))
    sign, member = re.match(r"^(=|is not) (.+)$", says).groups()
    return [member], sign == "is not"
