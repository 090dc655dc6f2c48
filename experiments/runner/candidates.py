"""The candidates of a search: the space, the draw (a pure function of what it is for), the job."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.errors import UserError
from experiments.runner import registry
from experiments.runner.experiments import MODEL_SEED, identity_of, params_of
from experiments.runs.job import Job, canonical_json

SEED = 42
TRIALS = 300
FOLDS = 3
METHODS = ("gradtree", "dndt", "genetictree", "cart")
"""Searched unless others are named: every learner that the paper tuned."""
DURING_SEARCH: Mapping[str, Mapping[str, Any]] = {"gradtree": {"restarts": 0}}
"""Candidates are compared without restarts; the winner gets the paper's number of them."""
FIRST_TRIAL = 0
"""The paper tuned on the split of data seed 42 alone."""


@dataclass(frozen=True, order=True)
class Subject:
    """What is searched: a learner on a dataset under a protocol."""

    protocol: str
    dataset: str
    method: str

    def __str__(self) -> str:
        return f"{self.protocol} {self.dataset} {self.method}"


def draw(choices: Sequence[Any], *what_for: Any) -> Any:
    """One of ``choices``, decided by a hash of ``what_for`` and by nothing else."""
    digest = hashlib.sha256(canonical_json(what_for).encode()).digest()
    return choices[int.from_bytes(digest, "big") % len(choices)]


def space_of(method: str) -> Mapping[str, Sequence[Any]]:
    """The declared space of a learner; one without cannot be searched."""
    space = registry.learner(method).space
    if not space:
        searchable = [slug for slug, one in registry.learners().items() if one.space]
        raise UserError(f"{method} declares no search space; these do: {', '.join(searchable)}")
    return space


def candidate(dataset: str, method: str, number: int, seed: int = SEED) -> dict[str, Any]:
    """Candidate ``number``; stopping, resuming, sharding and order cannot change it."""
    return {
        name: draw(choices, seed, dataset, method, number, name)
        for name, choices in space_of(method).items()
    }


def complete(subject: Subject, drawn: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of a learner: those drawn, the others as in the tuned experiment."""
    published = params_of("published", subject.protocol, subject.method, subject.dataset)
    return {**published, **drawn}


def candidate_job(subject: Subject, drawn: Mapping[str, Any]) -> Job:
    """Cross-validate one candidate."""
    protocol, dataset, method = subject.protocol, subject.dataset, subject.method
    params = complete(subject, drawn) | dict(DURING_SEARCH.get(method, {}))
    simple = registry.learner(method).simplify(params, registry.facts(dataset).task)
    what = (protocol, "search", dataset, method, Job.freeze(simple), FIRST_TRIAL, MODEL_SEED)
    return Job(*what, evaluation=f"cv:{FOLDS}", **identity_of(protocol, dataset, method))
