"""Who survives, who becomes a parent, who is mutated or crossed with whom and where.

Every draw is made in the original's order, from the same generators: NumPy's
for the choice of parents, and for the rest that of the parent concerned.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from baselines.algorithms.genetic import jkiss
from baselines.algorithms.genetic.population import MUTANT, SURVIVOR, Brood, describe
from baselines.algorithms.genetic.settings import Settings
from gradtree.compiling import entry_kernel

SMALLEST_SHARE = 1e-7


def fittest(fitness: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """The ``n`` best, the first of equals first after every swap: partial selection sort.

    NumPy's own partial sort did just this for up to three elements, and today
    orders equals differently from one processor to the next.
    """
    order = np.arange(len(fitness))
    for place in range(min(n, len(order))):
        best = place + int(fitness[order[place:]].argmax())
        order[[place, best]] = order[[best, place]]
    return order[:n]


def select(fitness: NDArray[np.float64], n: int, random: RandomState) -> NDArray[np.int64]:
    """Stochastic universal selection: ``n`` equidistant pointers on the stacked fitness shares.

    Returns
    -------
    ndarray of int64
        Indices of the selected: each one once, in order, then the repetitions.
    """
    edges = np.cumsum(_shares(fitness))
    steps = np.full(n, 1 / n)
    steps[0] = random.random_sample() * steps[0]
    chosen = np.searchsorted(edges / edges[-1], np.minimum(np.cumsum(steps), 1.0))
    repeated = np.concatenate([[False], chosen[1:] == chosen[:-1]])
    return np.concatenate([chosen[~repeated], chosen[repeated]])


def _shares(fitness: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fitness made positive; none for what must not be selected."""
    smallest = np.abs(fitness).min() or SMALLEST_SHARE
    return np.where(np.isfinite(fitness), np.maximum(fitness, smallest), 0.0)


@dataclass(frozen=True, eq=False)
class Parents:
    """Selected parents; a tree that is selected repeatedly occurs repeatedly.

    Attributes
    ----------
    tree, n_nodes : number among the grown trees, and size.
    home : row of ``rng``; repetitions have rows of their own.
    rng : uint64, shape (rows, 4)
    """

    tree: NDArray[np.int64]
    n_nodes: NDArray[np.int64]
    home: NDArray[np.int64]
    rng: NDArray[np.uint64]


def seat(selected: NDArray[np.int64], tree: NDArray[np.int64], brood: Brood) -> Parents:
    """Give the selected children generators: the first of each its own, repetitions a new one.

    Parameters
    ----------
    selected : children, each once and then the repetitions.
    tree : their numbers among the grown trees.
    """
    n_different = len(np.unique(selected))
    repetitions = selected[n_different:]
    new = np.empty((len(repetitions), jkiss.WORDS), dtype=np.uint64)
    spawn(brood.rng, repetitions, new)
    new_home = len(brood.rng) + np.arange(len(repetitions))
    return Parents(
        tree,
        brood.n_nodes[selected],
        np.concatenate([selected[:n_different], new_home]),
        np.concatenate([brood.rng, new]),
    )


def breed(
    parents: Parents,
    elite_tree: NDArray[np.int64],
    elite_home: NDArray[np.int64],
    settings: Settings,
    random: RandomState,
) -> Brood:
    """Describe the children: mutants, then crossings, then the elite as it is."""
    mutants = settings.quirks.mutated(len(parents.tree), settings.mutation_prob, random)
    mutant_rng = np.empty((len(mutants), jkiss.WORDS), dtype=np.uint64)
    spawn(parents.rng, parents.home[mutants], mutant_rng)
    crossed = _cross(parents, settings.cross_prob, random)
    return _join(
        _unpaired(parents.tree[mutants], MUTANT, mutant_rng),
        crossed,
        _unpaired(elite_tree, SURVIVOR, parents.rng[elite_home]),
    )


def _unpaired(tree: NDArray[np.int64], kind: np.int64, rng: NDArray[np.uint64]) -> Brood:
    unknown = np.zeros(len(tree), dtype=np.int64)
    return describe(tree, unknown, np.full(len(tree), kind), unknown, rng)


def _join(*broods: Brood) -> Brood:
    return Brood(*(np.concatenate(parts) for parts in zip(*broods, strict=True)))


def _cross(parents: Parents, cross_prob: float, random: RandomState) -> Brood:
    """Pair parents at random, both ways; a child that is a bare branch gets a fresh seed."""
    n = len(parents.tree)
    first = np.flatnonzero(random.random_sample(n) < cross_prob)
    second = random.randint(0, n - 1, len(first))
    second += second >= first
    node = np.empty((len(first), 2), dtype=np.int64)
    rng = np.empty((2 * len(first), jkiss.WORDS), dtype=np.uint64)
    draw_crossings(first, second, parents.n_nodes, parents.home, parents.rng, node, rng)
    couple = np.stack([first, second], axis=1)
    point, branch = node.ravel(), node[:, ::-1].ravel()
    bare = np.flatnonzero(point == 0)
    rng[bare] = jkiss.states(random.randint(jkiss.SEED_RANGE, size=len(bare)))
    recipient, donor = parents.tree[couple.ravel()], parents.tree[couple[:, ::-1].ravel()]
    return describe(recipient, point, donor, branch, rng)


@entry_kernel()
def spawn(
    rng: NDArray[np.uint64], parents: NDArray[np.int64], children: NDArray[np.uint64]
) -> None:
    """Seed each child's generator by a draw of its parent's."""
    for child in range(len(parents)):
        jkiss.seed(children[child], jkiss.below(rng[parents[child]], jkiss.SEED_RANGE))


@entry_kernel()
def draw_crossings(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    n_nodes: NDArray[np.int64],
    home: NDArray[np.int64],
    rng: NDArray[np.uint64],
    node: NDArray[np.int64],
    child_rng: NDArray[np.uint64],
) -> None:
    """Choose a node of both parents, shape (couples, 2), and seed the two children.

    A child whose recipient gives way at the root is no copy of it, and gets no seed from it.
    """
    for i in range(len(first)):
        one, other = home[first[i]], home[second[i]]
        node[i, 0] = jkiss.below(rng[one], n_nodes[first[i]])
        node[i, 1] = jkiss.below(rng[other], n_nodes[second[i]])
        if node[i, 0]:
            jkiss.seed(child_rng[2 * i], jkiss.below(rng[one], jkiss.SEED_RANGE))
        if node[i, 1]:
            jkiss.seed(child_rng[2 * i + 1], jkiss.below(rng[other], jkiss.SEED_RANGE))
