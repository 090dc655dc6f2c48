"""The arrays of a tree: checks, counts, equality, storage."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_samples import random_tree, stump

from gradtree.trees.tree import LEAF, Tree


def single_leaf() -> Tree:
    return Tree([LEAF], [LEAF], [LEAF], [np.nan], [[0.25, 0.75]], n_features=3)


def test_a_single_leaf_has_size_one_and_depth_zero():
    tree = single_leaf()
    assert (tree.node_count, tree.n_leaves, tree.depth) == (1, 1, 0)
    assert tree.predict(np.zeros((4, 3))).tolist() == [1, 1, 1, 1]


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_counts_of_binary_trees_obey_their_identity(seed, n_leaves):
    tree = random_tree(seed, n_leaves)
    assert tree.n_leaves == n_leaves
    assert tree.node_count == 2 * n_leaves - 1
    assert np.log2(n_leaves) <= tree.depth <= n_leaves - 1


def test_arrays_cannot_be_changed_through_the_tree():
    given_thresholds = np.array([0.5, np.nan, np.nan])
    tree = Tree([1, -1, -1], [2, -1, -1], [0, -1, -1], given_thresholds, np.full((3, 2), 0.5), 1)
    with pytest.raises(ValueError, match="read-only"):
        tree.threshold[0] = 1.0
    given_thresholds[0] = 7.0
    assert tree.threshold[0] == 0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"children_right": [LEAF, LEAF, LEAF]}, "two children or none"),
        ({"children_left": [2, LEAF, LEAF]}, "exactly one node"),
        ({"children_left": [0, LEAF, LEAF]}, "exactly one node"),
        ({"children_left": [5, LEAF, LEAF]}, "exactly one node"),
        ({"feature": [2, LEAF, LEAF]}, r"outside 0\.\.1"),
        ({"feature": [1, 0, LEAF]}, "feature -1"),
        ({"threshold": [np.nan, np.nan, np.nan]}, "finite"),
        ({"threshold": [np.inf, np.nan, np.nan]}, "finite"),
        ({"threshold": [0.5, -2.0, np.nan]}, "threshold nan"),
        ({"threshold": [0.5, np.nan]}, "one entry per node"),
        ({"value": [[0.5, 0.5], [3.0, 1.0], [0.2, 0.8]]}, "sum to 1"),
        ({"value": [[0.5, 0.5], [1.5, -0.5], [0.2, 0.8]]}, "sum to 1"),
        ({"value": [[0.5, 0.5], [np.nan, 0.5], [0.2, 0.8]]}, "sum to 1"),
        ({"value": [0.5, 0.5, 0.5]}, "value needs the shape"),
        ({"n_node_samples": [10, 4]}, "one entry per node"),
        ({"n_node_samples": [10, -4, 6]}, "negative"),
    ],
)
def test_what_is_no_tree_is_refused(change, message):
    arrays = {name: getattr(stump(), name) for name in Tree.__dataclass_fields__}
    with pytest.raises(ValueError, match=message):
        Tree(**(arrays | change))


def test_children_must_follow_their_parents():
    # Node 1 is an inner node whose parent, node 2, comes later.
    with pytest.raises(ValueError, match="after their parents"):
        Tree(
            children_left=[2, 3, 1, LEAF, LEAF, LEAF, LEAF],
            children_right=[5, 4, 6, LEAF, LEAF, LEAF, LEAF],
            feature=[0, 0, 0, LEAF, LEAF, LEAF, LEAF],
            threshold=[0.0, 0.0, 0.0, *[np.nan] * 4],
            value=np.full((7, 2), 0.5),
            n_features=1,
        )


def test_an_empty_tree_is_refused():
    with pytest.raises(ValueError, match="one entry per node"):
        Tree([], [], [], [], np.zeros((0, 2)), n_features=1)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.booleans())
def test_json_gives_back_the_same_tree(seed, n_leaves, counts):
    tree = random_tree(seed, n_leaves, counts=counts)
    text = tree.to_json()
    again = Tree.from_json(text)
    assert again == tree
    assert hash(again) == hash(tree)
    assert again.to_json() == text


def test_json_is_exact_for_awkward_numbers():
    third = float(np.nextafter(np.float32(1 / 3), np.float32(0)))
    tree = stump(threshold=third, left=1 / 3, right=1e-300)
    json.loads(tree.to_json(), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert Tree.from_json(tree.to_json()).threshold[0] == third
    assert Tree.from_json(tree.to_json()).value.tobytes() == tree.value.tobytes()


def test_foreign_content_is_refused():
    content = stump().to_dict()
    with pytest.raises(ValueError, match="format"):
        Tree.from_dict(content | {"format": "something else"})
    with pytest.raises(ValueError, match="colour"):
        Tree.from_dict(content | {"colour": 1})
    with pytest.raises(ValueError, match="threshold"):
        Tree.from_dict({key: content[key] for key in content if key != "threshold"})


@pytest.mark.parametrize(
    "other",
    [stump(0.25), stump(left=0.8), random_tree(0), single_leaf(), "a tree", None],
)
def test_different_trees_are_not_equal(other):
    assert stump() != other


def test_knowing_the_counts_makes_a_difference():
    assert random_tree(3, counts=True) != random_tree(3, counts=False)


def test_copies_and_pickles_are_equal():
    tree = random_tree(5)
    assert copy.deepcopy(tree) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert len({tree, pickle.loads(pickle.dumps(tree))}) == 1
