"""The split of a job, kept for the next jobs that need the same one."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from experiments.planning import plugins

if TYPE_CHECKING:
    from datasets.split import Split

UNAVAILABLE: dict[str, Exception] = {}
"""Datasets that could not be had: asked for once per process, not once per job."""


@lru_cache(maxsize=10)
def load_split(dataset: str, protocol: str, trial: int) -> Split:
    """One trial of a protocol on a dataset of the suite or of a plug-in."""
    extra = plugins.extras().datasets.get(dataset)
    if extra is not None:
        return extra.split(protocol, trial)
    import datasets

    return datasets.make_split(load_dataset(dataset), protocol, trial)


@lru_cache(maxsize=2)
def load_dataset(dataset: str) -> Any:
    """The verified raw table; a failure to get it is remembered."""
    import datasets

    if dataset in UNAVAILABLE:
        raise UNAVAILABLE[dataset]
    try:
        return datasets.load_dataset(dataset)
    except datasets.DatasetUnavailable as problem:
        UNAVAILABLE[dataset] = problem
        raise
