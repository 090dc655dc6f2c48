"""How to breed."""

from __future__ import annotations

from dataclasses import dataclass, field

from baselines.genetic.quirks import Quirks


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
