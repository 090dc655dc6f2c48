"""The arrays of a tree: checks, equality, storage; and where rows of any kind of matrix go."""

import copy
import json
import pickle
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_samples import grid_rows, random_tree, single_leaf, stump

from gradtree.columns.coding import Column
from gradtree.trees.tree import LEAF, Tree


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


def test_an_empty_tree_and_children_before_their_parents_are_refused():
    with pytest.raises(ValueError, match="one entry per node"):
        Tree([], [], [], [], np.zeros((0, 2)), n_features=1)
    # Node 1 is an inner node whose parent, node 2, comes later.
    left, right, feature = [2, 3, 1, *[LEAF] * 4], [5, 4, 6, *[LEAF] * 4], [0, 0, 0, *[LEAF] * 4]
    with pytest.raises(ValueError, match="after their parents"):
        Tree(left, right, feature, [0.0, 0.0, 0.0, *[np.nan] * 4], np.full((7, 2), 0.5), 1)


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
    [stump(0.25), stump(left=0.8), replace(stump(), n_node_samples=None), single_leaf(), "a", None],
)
def test_different_trees_are_not_equal(other):
    assert stump() != other


def test_copies_and_pickles_are_equal():
    tree = random_tree(5)
    assert copy.deepcopy(tree) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert len({tree, pickle.loads(pickle.dumps(tree))}) == 1


@pytest.mark.parametrize(
    "layout",
    [
        lambda X: X.astype(np.float32),
        lambda X: np.asfortranarray(X),
        lambda X: np.asfortranarray(X, dtype=np.float32),
        lambda X: np.repeat(X, 2, axis=1)[::1, ::2],
        lambda X: X[::-1][::-1],
        lambda X: X.astype(">f8"),
        lambda X: X.astype(np.float16),
        lambda X: X.astype(np.longdouble),
        lambda X: X.tolist(),
        lambda X: np.array(X.tolist(), dtype=object),
    ],
    ids=["f4", "F", "F-f4", "strided", "reversed", "swapped", "f2", "f16", "list", "object"],
)
def test_every_kind_of_matrix_is_read_alike(layout):
    tree, X = random_tree(11, 30), grid_rows(12)
    np.testing.assert_array_equal(tree.apply(layout(X)), tree.apply(X))


def test_thresholds_below_zero_part_whole_numbers_of_tables():
    tree = replace(stump(threshold=-1.5), columns=(Column("a"), Column("b")))
    whole = np.array([[0, -1], [0, -2], [0, 3]])
    assert tree.apply(whole).tolist() == tree.apply(whole.astype(float)).tolist() == [2, 1, 2]


def test_integers_and_read_only_rows():
    tree = random_tree(13, 30)
    whole = np.arange(-10, 10).reshape(4, 5)
    np.testing.assert_array_equal(tree.apply(whole), tree.apply(whole.astype(float)))
    frozen = whole.astype(np.float32)
    frozen.setflags(write=False)
    np.testing.assert_array_equal(tree.apply(frozen), tree.apply(whole))


def test_rows_on_the_threshold_go_left_as_float32_and_every_number_has_a_place():
    t = np.float32(0.1)
    tree = stump(threshold=float(t))
    above = np.nextafter(t, np.float32(1))
    X64 = np.array([[0, float(t)], [0, float(above)], [0, 0.1], [0, float(t) + 1e-12]])
    # 0.1 and the last number round to the threshold in float32.
    assert tree.apply(X64).tolist() == [1, 2, 1, 1]
    rows = np.array([[0, -np.inf], [0, np.inf], [0, np.nan], [0, 1e300], [0, -1e300]])
    assert stump().apply(rows).tolist() == [1, 2, 2, 2, 1]


def test_no_rows_are_rows_and_the_wrong_shape_is_named():
    assert stump().apply(np.empty((0, 2))).shape == (0,)
    assert stump().predict_proba(np.empty((0, 2))).shape == (0, 2)
    for X in ([[1.0]], [[1.0, 2.0, 3.0]], [1.0, 2.0], 3.0):
        with pytest.raises(ValueError, match=r"needs \(n_rows, 2\)"):
            stump().apply(X)


def test_a_million_rows_per_second():
    tree = random_tree(21, n_leaves=200, n_features=10)
    X = np.random.default_rng(0).normal(size=(300_000, 10))
    tree.predict(X[:10])
    seconds = []
    for _ in range(5):
        start = time.thread_time()
        tree.predict(X)
        seconds.append(time.thread_time() - start)
    assert len(X) / min(seconds) >= 1e6
