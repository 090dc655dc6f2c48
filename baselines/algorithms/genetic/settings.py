"""How to breed, and what the original does beside or against its documentation.

All of its departures shaped the published numbers, so all are on by default; each
can be switched off to see what it is worth. Two more have no switch, because
nothing else would be meaningful: a leaf that ends up without a clear majority
keeps the class the search gave it, and fitness that is not positive is raised
to the smallest absolute fitness before it becomes a share of the selection.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

FIRST_POPULATION = 400


@dataclass(frozen=True)
class Quirks:
    """Departures of the original, ``True`` where it departs.

    Attributes
    ----------
    fixed_first_population : the first generation has 400 trees whatever
        ``n_trees`` says; the library takes its size from the constructor only,
        and the paper's parameters were set afterwards. ``n_trees`` governs how
        many parents are selected per generation.
    unlimited_depth : ``max_depth`` has no effect. Otherwise deeper trees are
        never selected.
    exact_mutation_share : exactly ``ceil(n_trees * mutation_prob)`` parents
        are mutated. Otherwise each is with that probability.
    stale_is_no_rise : early stopping compares the newest best fitness with
        the smallest of the window before it. Otherwise with the largest, which
        differs only without elitism.
    """

    fixed_first_population: bool = True
    unlimited_depth: bool = True
    exact_mutation_share: bool = True
    stale_is_no_rise: bool = True

    def first_population(self, n_trees: int) -> int:
        return FIRST_POPULATION if self.fixed_first_population else n_trees

    def mutated(self, n_trees: int, share: float, random: RandomState) -> NDArray[np.int64]:
        """Indices of the parents to mutate, in the order of mutation."""
        if self.exact_mutation_share:
            return random.choice(n_trees, int(np.ceil(n_trees * share)), replace=False)
        return np.flatnonzero(random.random_sample(n_trees) < share)

    def selectable(self, depth: NDArray[np.int64], max_depth: int | None) -> NDArray[np.bool_]:
        if self.unlimited_depth or max_depth is None:
            return np.ones(len(depth), dtype=np.bool_)
        return depth <= max_depth


@dataclass(frozen=True)
class Settings:
    """Parameters of the search.

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
