"""Trees as text: rules, indented text, DOT, drawings."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_samples import random_tree, single_leaf, stump

from gradtree.trees.tree import LEAF, Tree
from gradtree.units.cuts import number_text
from gradtree.views.plot import tidy_positions

NAMES = {"feature_names": ["age", "fare"], "class_names": ["died", "survived"]}


def chain() -> Tree:
    """Two splits on the same column, of which one leaf stays between the two."""
    return Tree(
        children_left=[1, LEAF, 3, LEAF, LEAF],
        children_right=[2, LEAF, 4, LEAF, LEAF],
        feature=[0, LEAF, 0, LEAF, LEAF],
        threshold=[1.5, np.nan, 30.0, np.nan, np.nan],
        value=[[0.5, 0.5], [1, 0], [0.5, 0.5], [0.25, 0.75], [0.5, 0.5]],
        n_features=2,
    )


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            stump().export_text(**NAMES),
            ["├─ fare <= 0.5 → died (0.90, 4 rows)", "└─ fare > 0.5 → survived (0.80, 6 rows)"],
        ),
        (
            chain().export_text(),
            [
                "├─ x0 <= 1.5 → 0 (1.00)",
                "└─ x0 > 1.5",
                "   ├─ x0 <= 30 → 1 (0.75)",
                "   └─ x0 > 30 → 0 (0.50)",
            ],
        ),
        (chain().export_text(max_depth=1), ["├─ x0 <= 1.5 → 0 (1.00)", "└─ x0 > 1.5 … 0 (0.50)"]),
        (single_leaf().export_text(**NAMES), ["→ survived (0.75, 1 row)"]),
    ],
    ids=["names", "no names or counts", "cut off", "a single leaf"],
)
def test_text(text, lines):
    assert text.splitlines() == lines


def test_rules_join_conditions_on_a_column():
    assert [str(rule) for rule in chain().rules(**NAMES)] == [
        "if age <= 1.5 then died (1.00)",
        "if 1.5 < age <= 30 then survived (0.75)",
        "if age > 30 then died (0.50)",
    ]
    assert str(single_leaf().rules(**NAMES)[0]) == "always survived (0.75, 1 row)"
    close = replace(chain(), threshold=[1.00000001, np.nan, 1.00000002, np.nan, np.nan])
    assert str(close.rules()[1]) == "if 1 < x0 <= 1.00000002 then 1 (0.75)"


def test_deep_trees_are_no_problem():
    n_splits = 3000
    left = np.full(2 * n_splits + 1, LEAF)
    right = left.copy()
    inner = np.arange(0, 2 * n_splits, 2)
    left[inner], right[inner] = inner + 1, inner + 2
    splits = right != LEAF
    feature = np.where(splits, 0, LEAF)
    threshold = np.where(splits, np.arange(2 * n_splits + 1) / 2, np.nan)
    tree = Tree(left, right, feature, threshold, np.full((2 * n_splits + 1, 2), 0.5), 1)
    assert tree.depth == n_splits
    assert len(tree.export_text().splitlines()) == tree.node_count - 1
    assert len(tree.rules()) == n_splits + 1
    assert tidy_positions(tree)[tree.node_count - 1][1] == n_splits


@pytest.mark.parametrize("export", ["export_text", "export_graphviz", "rules"])
def test_wrong_numbers_of_names_are_refused(export):
    with pytest.raises(ValueError, match="1 feature names"):
        getattr(stump(), export)(feature_names=["age"])
    with pytest.raises(ValueError, match="3 class names"):
        getattr(stump(), export)(class_names="abc")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.123456, "0.1235"),
        (-1.4e-45, "0"),
        (123456.0, "123500"),
        (1e20, "1e+20"),
        (2.0, "2"),
        (-0.00001234567, "-1.235e-05"),
    ],
)
def test_numbers_are_short(number, text):
    assert number_text(number, 4) == text


def test_graphviz_has_every_node_and_edge_and_escapes_quotes():
    tree = random_tree(2, 12)
    dot = tree.export_graphviz()
    assert len(re.findall(r"^\d+ \[label=", dot, re.M)) == tree.node_count
    edges = {tuple(map(int, e)) for e in re.findall(r"^(\d+) -> (\d+) \[label=", dot, re.M)}
    inner = np.flatnonzero(tree.children_left != LEAF)
    assert edges == {
        (node, child[node]) for node in inner for child in (tree.children_left, tree.children_right)
    }
    dot = stump().export_graphviz(feature_names=["a", 'say "x" \\'], class_names=["a", "b"])
    assert r'label="say \"x\" \\"' in dot


@given(st.integers(0, 2**32 - 1), st.integers(1, 60))
def test_drawn_nodes_do_not_meet_and_parents_are_centred(seed, n_leaves):
    tree = random_tree(seed, n_leaves)
    positions = tidy_positions(tree)
    assert len(positions) == tree.node_count
    assert min(column for column, _ in positions.values()) == pytest.approx(0.0)
    for depth in range(tree.depth + 1):
        columns = sorted(column for column, at in positions.values() if at == depth)
        assert all(b - a >= 1 - 1e-9 for a, b in pairwise(columns))
    for node in np.flatnonzero(tree.children_left != LEAF):
        left, right = positions[tree.children_left[node]], positions[tree.children_right[node]]
        assert left[0] < right[0]
        assert (left[0] + right[0]) / 2 == pytest.approx(positions[node][0])


def test_plot_shows_conditions_can_be_cut_off_and_put_on_given_axes():
    plt = pytest.importorskip("matplotlib.pyplot")
    ax = stump().plot(feature_names=["age", "price in $"], class_names=["died", "survived"])
    shown = {text.get_text() for text in ax.texts}
    assert {"price in $", "died", "survived", "≤ 0.5", "> 0.5", "90% · n=4"} <= shown
    figure, axes = plt.subplots()
    assert chain().plot(max_depth=1, ax=axes) is axes
    figure.canvas.draw()
    assert "0 …" in {text.get_text() for text in axes.texts}
    plt.close("all")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("age", ["age"]),
        ("age-at-heart-attack", ["age-at-heart-", "attack"]),
        ("wall-motion-index", ["wall-motion-", "index"]),
        ("STDs: Time since last diagnosis", ["STDs: Time", "since last…"]),
        ("averyverylongnamewithoutanybreak", ["averyverylongnamewithoutanybreak"]),
    ],
)
def test_names_are_broken_where_they_can_be(text, lines):
    plot = pytest.importorskip("gradtree.views.plot")
    assert plot.wrapped(text).splitlines() == lines
