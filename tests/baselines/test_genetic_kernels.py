"""The compiled parts of the genetic algorithm against slow and obvious ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from baselines.algorithms.genetic import nodes
from baselines.algorithms.genetic.evolution import Settings, fittest, next_generation, select
from baselines.algorithms.genetic.growing import grow, judge, plant_stumps
from baselines.algorithms.genetic.nodes import LEAF, NO_PARENT, NODE, ROOT
from baselines.algorithms.genetic.population import (
    SEED_RANGE,
    WORDS,
    draw,
    seed,
    seeded,
    undescribed,
)
from baselines.algorithms.genetic.rows import encode, reach, score, thresholds_of
from baselines.algorithms.genetic.rows import workspace as descent_workspace


def test_generator_draws_what_the_original_draws() -> None:
    state = np.empty(WORDS, dtype=np.uint64)
    seed(state, 51423)
    drawn = [draw(state, 10**8) for _ in range(8)]
    assert drawn == [
        38347275, 89477955, 75100396, 67418997, 70897658, 84753027, 82317991, 51321721,
    ]  # fmt: skip
    assert state.tolist() == [
        8048006729907464295, 3878768040195664976, 11504725313757744066, 2678652599,
    ]  # fmt: skip


def test_states_are_seeded_states() -> None:
    seeds = np.array([0, 3, 10**8 - 1])
    expected = np.empty((3, WORDS), dtype=np.uint64)
    for state, start in zip(expected, seeds, strict=True):
        seed(state, start)
    assert (seeded(seeds) == expected).all()


def test_seeds_drawn_together_are_seeds_drawn_one_by_one() -> None:
    one_by_one = np.random.RandomState(42)
    expected = [one_by_one.randint(SEED_RANGE) for _ in range(50)]
    together = np.random.RandomState(42).randint(SEED_RANGE, size=50)
    assert together.tolist() == expected


shapes = st.recursive(
    st.integers(0, 2), lambda below: st.tuples(st.integers(0, 3), below, below), max_leaves=25
)


def as_nodes(shape: object, rng: np.random.Generator, room: int = 0) -> np.ndarray:
    """Node records of a nested (feature, left, right), with shuffled numbers above the root."""
    flat: list[tuple[int, int, int, int, int]] = []

    def visit(part: object, parent: int, depth: int) -> int:
        number = len(flat)
        flat.append((LEAF, LEAF, parent, part if isinstance(part, int) else part[0], depth))
        if isinstance(part, tuple):
            left = visit(part[1], number, depth + 1)
            right = visit(part[2], number, depth + 1)
            flat[number] = (left, right, *flat[number][2:])
        return number

    visit(shape, NO_PARENT, 0)
    number = np.concatenate([[0], 1 + rng.permutation(len(flat) - 1)])
    made = np.zeros(len(flat) + room, dtype=NODE)
    for old, (left, right, parent, feature, depth) in enumerate(flat):
        links = [number[link] if link >= 0 else link for link in (left, right, parent)]
        made[number[old]] = (*links, feature, depth, 0, 0, 0)
    return made


def as_shape(tree: np.ndarray, node: int = 0) -> object:
    here = tree[node]
    if here["left"] == LEAF:
        return int(here["feature"])
    children = as_shape(tree, here["left"]), as_shape(tree, here["right"])
    return (int(here["feature"]), *children)


def assert_consistent(tree: np.ndarray) -> None:
    """Every node is somebody's child, one level below it, and the root nobody's."""
    assert tree[0]["parent"] == NO_PARENT
    assert tree[0]["depth"] == 0
    inner = np.flatnonzero(tree["left"] != LEAF)
    children = np.concatenate([tree["left"][inner], tree["right"][inner]])
    assert sorted(children) == list(range(1, len(tree)))
    for side in ("left", "right"):
        assert (tree["parent"][tree[side][inner]] == inner).all()
        assert (tree["depth"][tree[side][inner]] == tree["depth"][inner] + 1).all()


@given(shapes, shapes, st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_graft_replaces_one_subtree(
    host: object, donor: object, point: int, branch: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    recipient, giver = as_nodes(host, rng), as_nodes(donor, rng)
    point, branch = point % len(recipient), branch % len(giver)
    if point == 0:
        return
    parent = recipient[point]["parent"]
    side = "left" if recipient[parent]["left"] == point else "right"
    joined = as_shape(giver, branch)
    expected = as_shape(recipient)
    n_expected = len(recipient) - _size(as_shape(recipient, point)) + _size(joined)
    child = np.concatenate([recipient, np.zeros(len(giver), dtype=NODE)])
    work = nodes.workspace(2 * len(child))
    kept = depth_without_by_hand(recipient, point)
    assert nodes.depth_without(recipient, point, recipient["depth"].max(), work) == kept
    assert not work.flagged.any()
    top = nodes.graft(child, len(recipient), point, giver, branch, work)
    child = child[:n_expected]
    assert_consistent(child)
    assert as_shape(child, top) == joined
    assert child[child[top]["parent"]][side] == top
    # Putting the old subtree back gives the old tree.
    restored = np.concatenate([child, np.zeros(len(recipient), dtype=NODE)])
    work = nodes.workspace(2 * len(restored))
    nodes.graft(restored, len(child), top, recipient, point, work)
    assert as_shape(restored) == expected


def depth_without_by_hand(tree: np.ndarray, point: int) -> int:
    outside = [node for node in range(len(tree)) if point not in (node, *ancestors(tree, node))]
    return max(tree["depth"][outside])


def _size(shape: object) -> int:
    return 1 if isinstance(shape, int) else 1 + _size(shape[1]) + _size(shape[2])


def test_gaps_are_closed_by_the_last_nodes_in_the_order_of_removal() -> None:
    """Worked by hand: removing 1 with its children 3 and 4 leaves the numbers 1 and 3 open."""
    tree = np.zeros(7, dtype=NODE)
    links = [(1, 2, -2), (3, 4, 0), (5, 6, 0), (-1, -1, 1), (-1, -1, 1), (-1, -1, 2), (-1, -1, 2)]
    for node, (left, right, parent) in enumerate(links):
        tree[node] = (left, right, parent, node, 0 if node == 0 else 1 + (node > 2), 0, 0, 0)
    leaf = np.zeros(1, dtype=NODE)
    leaf[0] = (-1, -1, NO_PARENT, 99, 0, 0, 0, 0)
    assert nodes.graft(tree, 7, 1, leaf, 0, nodes.workspace(14)) == 4
    assert tree["feature"][:5].tolist() == [0, 6, 2, 5, 99]


@pytest.fixture(scope="module")
def sample() -> tuple[np.ndarray, np.ndarray]:
    """Three classes, ties among the values, and rows that do not fill the last word."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 30, size=(333, 5)).astype(np.float32)
    y = (X[:, 0] > 12).astype(np.intp) + ((X[:, 1] > 20) & (X[:, 2] < 9))
    return X, y


def walk(tree: np.ndarray, thresholds: np.ndarray, X: np.ndarray) -> np.ndarray:
    """The leaf of every row, node by node."""
    reached = []
    for row in X:
        node = 0
        while tree[node]["left"] != LEAF:
            here = tree[node]
            side = (
                "left"
                if row[here["feature"]] <= thresholds[here["feature"], here["cut"]]
                else "right"
            )
            node = here[side]
        reached.append(node)
    return np.array(reached)


@pytest.mark.parametrize("penalty", [0.01, 0.0])
def test_what_is_known_of_children_is_true_of_them_grown_up(
    sample: tuple[np.ndarray, np.ndarray], penalty: float
) -> None:
    X, y = sample
    thresholds = thresholds_of(X, 10)
    data = encode(X, y, thresholds, 3)
    settings = Settings(n_trees=40, depth_penalty=penalty, mutation_prob=0.7, cross_prob=0.9)
    random = np.random.RandomState(3)
    trees, brood = plant_stumps(random.randint(10**8, size=40), data)
    nothing = np.empty(0, dtype=NODE)
    for _ in range(25):
        fitness = brood.hits / len(y) - penalty * brood.depth
        trees, brood = next_generation(trees, brood, fitness, data, settings, random, nothing)
    assert brood.n_nodes.max() > 10
    grown = grow(trees, brood, np.arange(len(brood.hits)), data, nothing)
    for i in range(len(brood.hits)):
        tree = grown.tree(i)
        assert_consistent(tree)
        leaves = walk(tree, thresholds, X)
        assert brood.depth[i] == tree["depth"].max()
        assert brood.hits[i] == (tree["feature"][leaves] == y).sum() == tree["hits"].sum()
        reached = set(leaves) | {p for leaf in leaves for p in ancestors(tree, leaf)}
        assert set(np.flatnonzero(tree["reached"])) == reached


def ancestors(tree: np.ndarray, node: int) -> list[int]:
    found = []
    while tree[node]["parent"] >= 0:
        node = int(tree[node]["parent"])
        found.append(node)
    return found


def test_reach_and_score_of_a_stump(sample: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = sample
    thresholds = thresholds_of(X, 10)
    data = encode(X, y, thresholds, 3)
    tree = plant_stumps(np.array([5]), data)[0].tree(0)
    work = descent_workspace(len(data.everyone), 1)
    below = X[:, tree[0]["feature"]] <= thresholds[tree[0]["feature"], tree[0]["cut"]]
    for side, rows in (("left", below), ("right", ~below)):
        size = reach(tree, np.int64(tree[0][side]), data, work)
        bits = np.zeros(len(data.everyone), dtype=np.uint64)
        bits[work.position[:size]] = work.bits[:size]
        members = np.unpackbits(bits.view(np.uint8), bitorder="little")[: len(y)]
        assert (members == rows).all()
    leaf_class = np.where(below, tree[1]["feature"], tree[2]["feature"])
    size = reach(tree, ROOT, data, work)
    assert score(tree, ROOT, size, data, work, np.bool_(False)) == (leaf_class == y).sum()


def test_thresholds_are_order_statistics() -> None:
    X = np.arange(178, dtype=np.float32)[::-1, None].repeat(2, axis=1)
    expected = [16, 32, 48, 64, 80, 97, 113, 129, 145, 161]
    assert thresholds_of(X, 10).tolist() == [expected, expected]


def slow_selection(fitness: np.ndarray, n: int, start: float) -> list[int]:
    """Pointers one by one along the stacked shares."""
    shares = np.maximum(fitness, np.abs(fitness).min() or 1e-7)
    edges = np.cumsum(shares) / np.cumsum(shares)[-1]
    pointer, chosen, i = start / n, [], 0
    while len(chosen) < n:
        if pointer <= edges[i]:
            chosen.append(i)
            pointer += 1 / n
        else:
            i += 1
    different = sorted(set(chosen))
    return different + sorted(chosen[k] for k in range(1, n) if chosen[k] == chosen[k - 1])


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=40), st.integers(2, 60), st.integers(0, 99))
def test_selection_is_stochastic_universal(values: list[float], n: int, seed: int) -> None:
    fitness = np.array(values)
    expected = slow_selection(fitness, n, np.random.RandomState(seed).random_sample())
    selected, n_different = select(fitness, n, np.random.RandomState(seed))
    assert selected.tolist() == expected
    assert n_different == len(set(expected))


def test_elite_takes_the_first_of_equals_of_what_the_swaps_left() -> None:
    assert fittest(np.array([1.0, 3.0, 2.0, 3.0]), 3).tolist() == [1, 3, 2]
    assert fittest(np.array([1.0, 1.0, 5.0, 1.0]), 2).tolist() == [2, 1]
    assert fittest(np.array([1.0, 2.0]), 5).tolist() == [1, 0]
    assert fittest(np.array([1.0, 2.0]), 0).tolist() == []


def test_crossing_at_the_root_takes_the_bare_branch(
    sample: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = sample
    data = encode(X, y, thresholds_of(X, 10), 3)
    old, _ = plant_stumps(np.arange(2), data)
    brood = undescribed(2)
    brood.recipient[:], brood.point[:] = [0, 1], [0, 2]
    brood.donor[:], brood.branch[:] = [1, 0], [2, 0]
    brood.rng[:] = seeded(np.arange(2))
    judge(old, brood, data)
    young = grow(old, brood, np.arange(2), data, np.empty(0, dtype=NODE))
    branch, whole = young.tree(0), young.tree(1)
    assert as_shape(branch) == as_shape(old.tree(1), 2)
    assert brood.hits[0] == (y == branch[0]["feature"]).sum()
    assert brood.depth.tolist() == [0, 2]
    assert as_shape(whole, whole[0]["right"]) == as_shape(old.tree(0))
