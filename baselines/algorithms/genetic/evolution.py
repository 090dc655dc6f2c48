"""The loop over generations: select, breed, judge, stop."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from baselines.algorithms.genetic import jkiss
from baselines.algorithms.genetic.breeding import breed, choose
from baselines.algorithms.genetic.growing import grow, plant_stumps
from baselines.algorithms.genetic.judging import judge
from baselines.algorithms.genetic.nodes import NODE, Nodes
from baselines.algorithms.genetic.population import Brood, Trees
from baselines.algorithms.genetic.rows import RowSets
from baselines.algorithms.genetic.settings import Settings


@dataclass(frozen=True, eq=False)
class Evolved:
    """The fittest tree of the last generation, and the best fitness of every generation."""

    nodes: Nodes
    best_fitness: NDArray[np.float64]


def evolve(data: RowSets, n_rows: int, settings: Settings, random: RandomState) -> Evolved:
    """Breed trees until the best fitness stays the same or the generations are used up."""
    first = settings.quirks.first_population(settings.n_trees)
    trees, brood = plant_stumps(random.randint(jkiss.SEED_RANGE, size=first), data)
    fitness = _fitness(brood, n_rows, settings)
    stopper = Stopper(settings)
    spare = np.empty(0, dtype=NODE)
    while not stopper.stop(float(fitness.max())):
        old = trees
        trees, brood = next_generation(old, brood, fitness, data, settings, random, spare)
        spare = old.nodes
        fitness = _fitness(brood, n_rows, settings)
    best = grow(trees, brood, np.array([fitness.argmax()]), data, spare)
    return Evolved(best.tree(0).copy(), np.array(stopper.history))


def next_generation(
    trees: Trees,
    brood: Brood,
    fitness: NDArray[np.float64],
    data: RowSets,
    settings: Settings,
    random: RandomState,
    spare: Nodes,
) -> tuple[Trees, Brood]:
    """Let the children that are selected, or are the fittest, grow up and have children.

    Parameters
    ----------
    trees, brood : grown trees, and the children they are to have.
    fitness : of the children.
    spare : room for nodes that nobody needs any more.
    """
    chosen = choose(fitness, settings, random)
    trees = grow(trees, brood, chosen.adults, data, spare)
    brood = breed(chosen, brood, settings, random)
    judge(trees, brood, data)
    return trees, brood


def _fitness(brood: Brood, n_rows: int, settings: Settings) -> NDArray[np.float64]:
    fitness = brood.hits / n_rows - settings.depth_penalty * brood.depth
    allowed = settings.quirks.selectable(brood.depth, settings.max_depth)
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
