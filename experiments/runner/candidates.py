"""The candidates of a search: the space, the draw (a pure function of what it is for), the jobs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.core.job import Job, canonical_json
from experiments.core.search_scores import FOLDER, read_scores
from experiments.core.store import LOCAL
from experiments.core.winners import winners_for
from experiments.runner import plugins
from experiments.runner.catalogue import MODEL_SEED, all_datasets, params_of

SEED = 42
TRIALS = 300
FOLDS = 3
METHODS = ("gradtree", "dndt", "genetictree", "cart")
"""Searched unless others are named: every learner that the paper tuned."""

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


FIRST_TRIAL = 0
"""The paper tuned on the split of data seed 42 alone."""


def search_jobs(
    protocol: str,
    datasets: Iterable[str] | None = None,
    methods: Iterable[str] | None = None,
    numbers: Iterable[int] = range(TRIALS),
    seed: int = SEED,
) -> list[Job]:
    """The jobs of the random search; candidates drawn twice are one piece of work."""
    return [
        candidate_job(protocol, dataset, method, candidate(dataset, method, number, seed))
        for dataset in (all_datasets() if datasets is None else datasets)
        for method in (METHODS if methods is None else methods)
        for number in numbers
    ]


def candidate_job(
    protocol: str, dataset: str, method: str, drawn: Mapping[str, Any], fold: int | None = None
) -> Job:
    """Cross-validate one candidate: all folds, or one of them."""
    params = complete(protocol, dataset, method, drawn)
    params.update(DURING_SEARCH.get(method, {}))
    params = plugins.learner(method).simplify(params, plugins.facts(dataset).task)
    return Job(
        protocol=protocol,
        experiment="search",
        dataset=dataset,
        method=method,
        params_json=Job.freeze(params),
        trial=FIRST_TRIAL,
        seed=MODEL_SEED,
        evaluation=f"cv:{FOLDS}" if fold is None else f"cv:{FOLDS}/{fold}",
        content_hash=plugins.facts(dataset).content_hash,
        protocol_version=plugins.protocol_version(protocol),
        method_version=plugins.learner(method).version,
    )


_store = LOCAL


def use_winners_of(store: Path) -> None:
    """Let ``--params ours`` mean what was found in this store, where it has been searched."""
    global _store
    _store = store
    params_of.cache_clear()


def winning_params(
    protocol: str, dataset: str, method: str, budget: int | None = None
) -> dict[str, Any]:
    """All parameters of the winner, or of the best among the first ``budget`` candidates."""
    for winner in winners_for(_store):
        if winner.subject == (protocol, dataset, method):
            drawn = winner.params
            if budget is not None and budget < winner.trials:
                drawn = candidate(dataset, method, _best_of(winner.subject, budget))
            return complete(protocol, dataset, method, drawn)
    raise LookupError(
        f"no search of {method} on {dataset} under {protocol} has been finished; run "
        f"`python -m experiments search --protocol {protocol} --dataset {dataset} "
        f"--method {method}`"
    )


def _best_of(subject: tuple[str, str, str], budget: int) -> int:
    """The number of the best candidate among the first; 0 where none of them had a score."""
    protocol, dataset, method = subject
    for folder in (_store / "search", FOLDER):
        scores = read_scores(folder, protocol, dataset)
        if not scores.missing(method, budget):
            return scores.best(method, budget) or 0
    raise LookupError(
        f"the scores of {method} on {dataset} under {protocol} are not kept, so the best of "
        f"{budget} is not known; run `python -m experiments search` for it"
    )


def published_choice(protocol: str, dataset: str, method: str) -> dict[str, Any]:
    """The paper's values of the parameters that are searched."""
    params = complete(protocol, dataset, method, {})
    return {name: params.get(name) for name in space_of(method)}
