"""The loop over generations: select, mutate, cross, keep the best, stop."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from baselines.genetic import jkiss
from baselines.genetic.breeding import (
    Crossings,
    Population,
    breed,
    draw_crossings,
    plant_stumps,
    spawn,
)
from baselines.genetic.nodes import NODE, Nodes
from baselines.genetic.quirks import Quirks
from baselines.genetic.rows import Rows

SMALLEST_SHARE = 1e-7


@dataclass(frozen=True)
class Settings:
    """How to breed.

    Attributes
    ----------
    n_trees : parents selected per generation.
    max_iter : generations at most.
    cross_prob : probability of each parent to be crossed with a random other one.
    mutation_prob : share of the parents to mutate.
    n_elitism : best trees that survive unchanged.
    patience : generations without a rise in the best fitness before stopping; ``None`` for never.
    depth_penalty : fitness lost per level of depth; 0 makes fitness the accuracy.
    max_depth : see ``Quirks.unlimited_depth``.
    """

    n_trees: int = 400
    max_iter: int = 500
    cross_prob: float = 0.6
    mutation_prob: float = 0.4
    n_elitism: int = 3
    patience: int | None = 100
    depth_penalty: float = 0.01
    max_depth: int | None = None
    quirks: Quirks = field(default_factory=Quirks)


@dataclass(frozen=True, eq=False)
class Evolved:
    """The fittest tree of the last generation, and the best fitness of every generation."""

    nodes: Nodes
    best_fitness: NDArray[np.float64]


def evolve(rows: Rows, n_rows: int, settings: Settings, random: RandomState) -> Evolved:
    """Breed trees until the best fitness stays the same or the generations are used up."""
    first = settings.quirks.first_population(settings.n_trees)
    population = plant_stumps(random.randint(jkiss.SEED_RANGE, size=first), rows)
    fitness = _fitness(population, n_rows, settings)
    stopper = Stopper(settings)
    spare = np.empty(0, dtype=NODE)
    while not stopper.stop(float(fitness.max())):
        parents = population
        population = next_generation(parents, fitness, rows, settings, random, spare)
        spare = parents.nodes
        fitness = _fitness(population, n_rows, settings)
    best = population.tree(int(fitness.argmax()))
    return Evolved(best.copy(), np.array(stopper.history))


def _fitness(population: Population, n_rows: int, settings: Settings) -> NDArray[np.float64]:
    fitness = population.hits / n_rows - settings.depth_penalty * population.depth
    allowed = settings.quirks.selectable(population.depth, settings.max_depth)
    return np.where(allowed, fitness, -np.inf)


class Stopper:
    """Counts generations and watches the best fitness."""

    def __init__(self, settings: Settings) -> None:
        self.history: list[float] = []
        self._max_iter = settings.max_iter
        self._window: deque[float] = deque(maxlen=settings.patience)
        self._watching = settings.patience is not None
        self._reference = min if settings.quirks.stale_is_no_rise else max

    def stop(self, best: float) -> bool:
        """Whether the generation whose best fitness this is shall be the last."""
        self.history.append(best)
        if len(self.history) > self._max_iter:
            return True
        full = self._watching and len(self._window) == self._window.maxlen
        self._window.append(best)
        return full and best <= self._reference(list(self._window)[:-1])


def next_generation(
    population: Population,
    fitness: NDArray[np.float64],
    rows: Rows,
    settings: Settings,
    random: RandomState,
    spare: Nodes,
) -> Population:
    """All draws in the original's order, then the compiled breeding."""
    elite = _fittest(fitness, settings.n_elitism)
    tree = select(fitness, settings.n_trees, random)
    home, rng = _homes(tree, population.rng)
    mutants = settings.quirks.mutated(settings.n_trees, settings.mutation_prob, random)
    mutant_rng = np.empty((len(mutants), jkiss.WORDS), dtype=np.uint64)
    spawn(rng, home[mutants], mutant_rng)
    crossed = _crossings(tree, home, rng, population.n_nodes, settings, random)
    return breed(population, tree[mutants], mutant_rng, crossed, elite, rng[elite], rows, spare)


def _fittest(fitness: NDArray[np.float64], n: int) -> NDArray[np.int64]:
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
    smallest = np.abs(fitness).min() or SMALLEST_SHARE
    return np.where(np.isfinite(fitness), np.maximum(fitness, smallest), 0.0)


def _homes(
    tree: NDArray[np.int64], rng: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Where each selected parent's generator is: repetitions of a tree get one of their own.

    Returns
    -------
    home : row of ``rng`` of each parent.
    rng : the trees' generators, followed by those of the repetitions.
    """
    n_different = len(np.unique(tree))
    repetitions = tree[n_different:]
    everyone = np.concatenate([rng, np.empty((len(repetitions), jkiss.WORDS), dtype=np.uint64)])
    spawn(everyone, repetitions, everyone[len(rng) :])
    own = np.arange(len(rng), len(everyone))
    return np.concatenate([tree[:n_different], own]), everyone


def _crossings(
    tree: NDArray[np.int64],
    home: NDArray[np.int64],
    rng: NDArray[np.uint64],
    n_nodes: NDArray[np.int64],
    settings: Settings,
    random: RandomState,
) -> Crossings:
    """Pair parents at random; a child that is a bare branch gets a fresh seed."""
    n = len(tree)
    first = np.flatnonzero(random.random_sample(n) < settings.cross_prob)
    second = random.randint(0, n - 1, len(first))
    second += second >= first
    crossed = draw_crossings(first, second, tree, home, n_nodes, rng)
    bare = np.flatnonzero(crossed.point == 0)
    crossed.rng[bare] = jkiss.states(random.randint(jkiss.SEED_RANGE, size=len(bare)))
    return crossed
