"""The trials of a search as jobs: each scores one candidate by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from experiments.planning import plugins
from experiments.planning.catalogue import MODEL_SEED, all_datasets
from experiments.planning.jobs import Job
from experiments.search.space import (
    DURING_SEARCH,
    FOLDS,
    METHODS,
    SEED,
    TRIALS,
    candidate,
    complete,
)

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
