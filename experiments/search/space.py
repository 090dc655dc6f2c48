"""What a search may draw, and the draw itself: a pure function of what it is for."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.planning import plugins
from experiments.planning.catalogue import params_of
from experiments.planning.jobs import canonical_json

SEED = 42
TRIALS = 300
FOLDS = 3
METHODS = ("gradtree", "dndt", "cart")
"""Searched unless others are named: quick enough for 300 trials on every dataset."""

DURING_SEARCH: Mapping[str, Mapping[str, Any]] = {"gradtree": {"restarts": 0}}
"""Candidates are compared without restarts; the winner gets the paper's number of them."""


def draw(choices: Sequence[Any], *what_for: Any) -> Any:
    """One of ``choices``, decided by a hash of ``what_for`` and by nothing else."""
    digest = hashlib.sha256(canonical_json(what_for).encode()).digest()
    return choices[int.from_bytes(digest, "big") % len(choices)]


def space_of(method: str) -> Mapping[str, Sequence[Any]]:
    """The declared space of a learner; one without cannot be searched."""
    space = plugins.learner(method).space
    if not space:
        raise ValueError(f"{method} declares no search space, so there is nothing to search")
    return space


def candidate(dataset: str, method: str, number: int, seed: int = SEED) -> dict[str, Any]:
    """What trial ``number`` of the random search draws.

    Stopping, resuming, sharding and the order of evaluation cannot change it.
    """
    return {
        name: draw(choices, seed, dataset, method, number, name)
        for name, choices in space_of(method).items()
    }


def complete(protocol: str, dataset: str, method: str, drawn: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of a learner: those drawn, the others as in the tuned experiment."""
    return {**params_of("published", protocol, method, dataset), **drawn}
