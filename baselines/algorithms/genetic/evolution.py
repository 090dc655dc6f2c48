"""The loop over generations: who survives, is mutated or crossed with whom and where.

Every draw is made in the original's order, from the same generators: NumPy's
for the choice of parents, and for the rest that of the parent concerned.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from baselines.algorithms.genetic.growing import grow, judge, plant_stumps
from baselines.algorithms.genetic.nodes import Nodes
from baselines.algorithms.genetic.population import (
    MUTANT,
    SEED_RANGE,
    SURVIVOR,
    WORDS,
    Brood,
    Trees,
    draw,
    seed,
    seeded,
    undescribed,
)
from baselines.algorithms.genetic.rows import RowSets
from gradtree.compiling import entry_kernel

FIRST_POPULATION = 400
"""The library takes it from its constructor only, and the paper set ``n_trees`` afterwards."""
SMALLEST_SHARE = 1e-7

Integers = NDArray[np.int64]


class Settings(NamedTuple):
    """Parameters of the search, as the estimator has them."""

    n_trees: int = 400
    max_iter: int = 500
    cross_prob: float = 0.6
    mutation_prob: float = 0.4
    n_elitism: int = 3
    patience: int = 100
    depth_penalty: float = 0.01


def evolve(
    data: RowSets, n_rows: int, settings: Settings, random: RandomState
) -> tuple[Nodes, NDArray[np.float64]]:
    """Breed trees until the best fitness stays the same or the generations are used up.

    Returns the fittest tree of the last generation, and the best fitness of every generation.
    """
    trees, brood = plant_stumps(random.randint(SEED_RANGE, size=FIRST_POPULATION), data)
    fitness = _fitness(brood, n_rows, settings)
    best_fitness = [float(fitness.max())]
    while not is_last(best_fitness, settings):
        trees, brood = next_generation(trees, brood, fitness, data, settings, random)
        fitness = _fitness(brood, n_rows, settings)
        best_fitness.append(float(fitness.max()))
    best = grow(trees, brood, np.array([fitness.argmax()]), data)
    return best.tree(0), np.array(best_fitness)


def next_generation(
    trees: Trees,
    brood: Brood,
    fitness: NDArray[np.float64],
    data: RowSets,
    settings: Settings,
    random: RandomState,
) -> tuple[Trees, Brood]:
    """Let the children that are selected, or are the fittest, grow up and have children."""
    chosen = choose(fitness, settings, random)
    trees = grow(trees, brood, chosen.adults, data)
    brood = breed(chosen, brood, settings, random)
    judge(trees, brood, data)
    return trees, brood


def _fitness(brood: Brood, n_rows: int, settings: Settings) -> NDArray[np.float64]:
    return brood.hits / n_rows - settings.depth_penalty * brood.depth


def is_last(best_fitness: list[float], settings: Settings) -> bool:
    """Whether the newest generation, whose best fitness is the last of the list, ends the search.

    As in the original: if it is no better than the worst of the ``patience`` generations so far.
    """
    if len(best_fitness) > settings.max_iter:
        return True
    full = len(best_fitness) > settings.patience
    return full and best_fitness[-1] <= min(best_fitness[-settings.patience : -1])


class Chosen(NamedTuple):
    """The children that grow up: those selected to be parents, and the elite."""

    adults: Integers  # all of them, each once, in order
    selected: Integers  # parents to be, each once and in order, then the repetitions
    tree: Integers  # of each of the selected, its number among the adults
    elite: Integers  # the fittest, best first
    elite_tree: Integers  # their numbers among the adults
    n_different: int  # how many of the selected are not repetitions


def choose(fitness: NDArray[np.float64], settings: Settings, random: RandomState) -> Chosen:
    """Select parents and the elite among children of that fitness."""
    elite = fittest(fitness, settings.n_elitism)
    selected, n_different = select(fitness, settings.n_trees, random)
    adults = np.flatnonzero(np.bincount(np.concatenate([selected, elite])))
    tree, elite_tree = np.searchsorted(adults, selected), np.searchsorted(adults, elite)
    return Chosen(adults, selected, tree, elite, elite_tree, n_different)


def fittest(fitness: NDArray[np.float64], n: int) -> Integers:
    """The ``n`` best, the first of equals first after every swap: partial selection sort.

    NumPy's own partial sort did just this for up to three elements, and today
    orders equals differently from one processor to the next.
    """
    order = np.arange(len(fitness))
    _put_fittest_first(fitness, min(n, len(order)), order)
    return order[:n]


def select(
    fitness: NDArray[np.float64], n: int, random: RandomState
) -> tuple[NDArray[np.int64], int]:
    """Stochastic universal selection: ``n`` equidistant pointers on the stacked fitness shares.

    Indices, each one once, in order, then the repetitions; and how many are no repetitions.
    """
    found, selected = np.empty((2, n), dtype=np.int64)
    edges = np.empty(len(fitness))
    n_different = _select(fitness, random.random_sample(), edges, found, selected)
    return selected, n_different


def breed(chosen: Chosen, brood: Brood, settings: Settings, random: RandomState) -> Brood:
    """Describe the children: mutants, then crossings, then the elite as it is."""
    n = len(chosen.selected)
    mutants = random.choice(n, int(np.ceil(n * settings.mutation_prob)), replace=False)
    first = np.flatnonzero(random.random_sample(n) < settings.cross_prob)
    second = random.randint(0, n - 1, len(first))
    # A parent that is selected repeatedly has a generator each time: its own, then new ones.
    repetitions = np.empty((n - chosen.n_different, WORDS), dtype=np.uint64)
    generators = np.concatenate([brood.rng, repetitions])
    children = undescribed(len(mutants) + 2 * len(first) + len(chosen.elite))
    home, bare = np.empty((2, n + len(children.point)), dtype=np.int64)
    n_bare = _breed(chosen, brood.n_nodes, mutants, first, second, generators, children, home, bare)
    fresh = random.randint(SEED_RANGE, size=n_bare)
    children.rng[bare[:n_bare]] = seeded(fresh)
    return children


@entry_kernel()
def _put_fittest_first(fitness: NDArray[np.float64], n: int | np.int64, order: Integers) -> None:
    for place in range(n):
        best = place
        for i in range(place + 1, len(order)):
            if fitness[order[i]] > fitness[order[best]]:
                best = i
        order[place], order[best] = order[best], order[place]


@entry_kernel()
def _select(
    fitness: NDArray[np.float64],
    start: float,
    edges: NDArray[np.float64],
    found: Integers,
    selected: Integers,
) -> int | np.int64:
    """Fill ``selected``; return how many different ones there are."""
    smallest = np.inf
    for i in range(len(fitness)):
        smallest = min(smallest, abs(fitness[i]))
    if smallest == 0:
        smallest = SMALLEST_SHARE
    # Shares are fitness made positive.
    total = 0.0
    for i in range(len(fitness)):
        total += max(fitness[i], smallest)
        edges[i] = total
    step = 1 / len(found)
    pointer, at, n_different = start * step, 0, 0
    for k in range(len(found)):
        while edges[at] / total < min(pointer, 1.0):
            at += 1
        found[k] = at
        n_different += k == 0 or found[k] != found[k - 1]
        pointer += step
    one, again = 0, n_different
    for k in range(len(found)):
        if k == 0 or found[k] != found[k - 1]:
            selected[one] = found[k]
            one += 1
        else:
            selected[again] = found[k]
            again += 1
    return n_different


@entry_kernel()
def _breed(
    chosen: Chosen,
    n_nodes: Integers,
    mutants: Integers,
    first: Integers,
    second: Integers,
    generators: NDArray[np.uint64],
    children: Brood,
    home: Integers,
    bare: Integers,
) -> int | np.int64:
    """Write down all children, and in ``bare`` those that are to be seeded from outside.

    ``generators`` has room for those of repetitions; ``home`` is room to note whose is whose.
    """
    selected, tree, n_different = chosen.selected, chosen.tree, chosen.n_different
    recipient, donor, rng = children.recipient, children.donor, children.rng
    point, branch = children.point, children.branch
    new = len(generators) - len(selected)  # the first of the repetitions is number n_different
    for i in range(len(selected)):
        home[i] = selected[i]
        if i >= n_different:
            home[i] = new + i
            _spawn(generators, selected[i], generators, new + i)
    for i in range(len(mutants)):
        recipient[i], donor[i] = tree[mutants[i]], MUTANT
        _spawn(generators, home[mutants[i]], rng, i)
    child, n_bare = len(mutants), 0
    for i in range(len(first)):
        one, other = first[i], second[i] + (second[i] >= first[i])
        mine = draw(generators[home[one]], n_nodes[selected[one]])
        yours = draw(generators[home[other]], n_nodes[selected[other]])
        point[child] = branch[child + 1] = mine
        point[child + 1] = branch[child] = yours
        for parent, partner in ((one, other), (other, one)):
            recipient[child], donor[child] = tree[parent], tree[partner]
            # A child whose recipient gives way at the root is no copy of it, so it gets no seed.
            if point[child]:
                _spawn(generators, home[parent], rng, child)
            else:
                bare[n_bare] = child
                n_bare += 1
            child += 1
    for i in range(len(chosen.elite)):
        recipient[child], donor[child] = chosen.elite_tree[i], SURVIVOR
        for word in range(WORDS):
            rng[child, word] = generators[chosen.elite[i], word]
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
