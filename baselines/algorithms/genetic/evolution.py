"""The loop over generations: who survives, is mutated or crossed with whom and where.

Every draw is made in the original's order, from the same generators: NumPy's
for the choice of parents, and for the rest that of the parent concerned.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from baselines.algorithms.genetic.nodes import Nodes
from baselines.algorithms.genetic.population import (
    MUTANT,
    SEED_RANGE,
    SURVIVOR,
    WORDS,
    Brood,
    Trees,
    draw,
    grow,
    plant_stumps,
    seed,
    seeded,
)
from baselines.algorithms.genetic.rows import RowSets
from gradtree.compiling import entry_kernel

FIRST_POPULATION = 400
"""The library takes it from its constructor only, and the paper set ``n_trees`` afterwards."""
SMALLEST_SHARE = 1e-7

Integers = NDArray[np.int64]


@dataclass(eq=False, repr=False)
class Settings:
    """Parameters of the search; the estimator inherits them."""

    n_trees: int = 400  # parents selected per generation
    max_iter: int = 500  # generations at most
    cross_prob: float = 0.6  # of each parent to be crossed with a random other one
    mutation_prob: float = 0.4  # share of the parents to mutate
    n_elitism: int = 3  # best trees that survive a generation unchanged
    patience: int = 100  # generations in which the best fitness has to rise, else the search stops
    depth_penalty: float = 0.01  # fitness is accuracy minus this times the depth


def evolve(
    data: RowSets, n_rows: int, settings: Settings, random: RandomState
) -> tuple[Nodes, NDArray[np.float64]]:
    """Breed trees until the best fitness stays the same or the generations are used up.

    Returns the fittest tree of the last generation, and the best fitness of every generation.
    """
    trees = plant_stumps(random.randint(SEED_RANGE, size=FIRST_POPULATION), data)
    fitness = fitness_of(trees, n_rows, settings)
    best_fitness = [float(fitness.max())]
    while not is_last(best_fitness, settings):
        trees = grow(trees, breed(trees, fitness, settings, random), data)
        fitness = fitness_of(trees, n_rows, settings)
        best_fitness.append(float(fitness.max()))
    return trees.tree(int(fitness.argmax())), np.array(best_fitness)


def fitness_of(trees: Trees, n_rows: int, settings: Settings) -> NDArray[np.float64]:
    return trees.hits / n_rows - settings.depth_penalty * trees.depth


def is_last(best_fitness: list[float], settings: Settings) -> bool:
    """Whether the newest generation, whose best fitness is the last of the list, ends the search.

    As in the original: if it is no better than the worst of the ``patience`` generations so far.
    """
    if len(best_fitness) > settings.max_iter:
        return True
    full = len(best_fitness) > settings.patience
    return full and best_fitness[-1] <= min(best_fitness[-settings.patience : -1])


def fittest(fitness: NDArray[np.float64], n: int) -> Integers:
    """The ``n`` best, the first of equals first after every swap: partial selection sort.

    NumPy's own partial sort did just this for up to three elements, and today
    orders equals differently from one processor to the next.
    """
    order = np.arange(len(fitness))
    for place in range(min(n, len(order))):
        best = place + int(fitness[order[place:]].argmax())
        order[place], order[best] = order[best], order[place]
    return order[:n]


def select(fitness: NDArray[np.float64], n: int, random: RandomState) -> tuple[Integers, int]:
    """Stochastic universal selection: ``n`` equidistant pointers on the stacked fitness shares.

    Indices, each one once, in order, then the repetitions; and how many are no repetitions.
    """
    smallest = np.abs(fitness).min() or SMALLEST_SHARE
    edges = np.cumsum(np.maximum(fitness, smallest))
    steps = np.full(n, 1 / n)
    steps[0] *= random.random_sample()
    found = np.searchsorted(edges / edges[-1], np.minimum(np.cumsum(steps), 1.0))
    again = np.diff(found, prepend=-1) == 0
    return np.concatenate([found[~again], found[again]]), int(np.sum(~again))


def breed(
    trees: Trees, fitness: NDArray[np.float64], settings: Settings, random: RandomState
) -> Brood:
    """Describe the children: mutants, then crossings, then the elite as it is."""
    elite = fittest(fitness, settings.n_elitism)
    n = settings.n_trees
    selected, n_different = select(fitness, n, random)
    mutants = random.choice(n, int(np.ceil(n * settings.mutation_prob)), replace=False)
    first = np.flatnonzero(random.random_sample(n) < settings.cross_prob)
    second = random.randint(0, n - 1, len(first))
    # A parent that is selected repeatedly has a generator each time: its own, then new ones.
    repetitions = np.empty((n - n_different, WORDS), dtype=np.uint64)
    generators = np.concatenate([trees.rng, repetitions])
    n_children = len(mutants) + 2 * len(first) + len(elite)
    rng = np.empty((n_children, WORDS), dtype=np.uint64)
    children = Brood._make([*np.zeros((4, n_children), dtype=np.int64), rng])
    home = np.concatenate([selected[:n_different], len(trees.rng) + np.arange(n - n_different)])
    bare = np.empty(n_children, dtype=np.int64)
    parents, pairs = (selected, home, elite), (first, second)
    n_bare = _breed(*parents, trees.n_nodes, mutants, pairs, generators, children, bare)
    fresh = random.randint(SEED_RANGE, size=n_bare)
    rng[bare[:n_bare]] = seeded(fresh)
    return children


@entry_kernel()
def _breed(
    selected: Integers,
    home: Integers,
    elite: Integers,
    n_nodes: Integers,
    mutants: Integers,
    pairs: tuple[Integers, Integers],
    generators: NDArray[np.uint64],
    children: Brood,
    bare: Integers,
) -> int | np.int64:
    """Write down all children, and in ``bare`` those that are to be seeded from outside.

    ``home`` says which of the ``generators`` each of the selected has.
    """
    first, second = pairs
    recipient, donor, rng = children.recipient, children.donor, children.rng
    point, branch = children.point, children.branch
    for i in range(len(selected)):
        if home[i] != selected[i]:
            _spawn(generators, selected[i], generators, home[i])
    for i in range(len(mutants)):
        recipient[i], donor[i] = selected[mutants[i]], MUTANT
        _spawn(generators, home[mutants[i]], rng, i)
    child, n_bare = len(mutants), 0
    for i in range(len(first)):
        one, other = first[i], second[i] + (second[i] >= first[i])
        mine = draw(generators[home[one]], n_nodes[selected[one]])
        yours = draw(generators[home[other]], n_nodes[selected[other]])
        point[child] = branch[child + 1] = mine
        point[child + 1] = branch[child] = yours
        for parent, partner in ((one, other), (other, one)):
            recipient[child], donor[child] = selected[parent], selected[partner]
            # A child whose recipient gives way at the root is no copy of it, so it gets no seed.
            if point[child]:
                _spawn(generators, home[parent], rng, child)
            else:
                bare[n_bare] = child
                n_bare += 1
            child += 1
    for i in range(len(elite)):
        recipient[child], donor[child] = elite[i], SURVIVOR
        for word in range(WORDS):
            rng[child, word] = generators[elite[i], word]
        child += 1
    return n_bare


@entry_kernel()
def _spawn(
    parents: NDArray[np.uint64],
    parent: int | np.int64,
    children: NDArray[np.uint64],
    child: int | np.int64,
) -> None:
    """Seed a child's generator by a draw of its parent's."""
    seed(children[child], draw(parents[parent], SEED_RANGE))
