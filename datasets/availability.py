"""Whether a dataset can be had here, from where, and what to do if not."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from datasets.errors import DatasetUnavailable, DataWarning
from datasets.loading import load_dataset, remedy
from datasets.record import Record
from datasets.registry import record


@dataclass(frozen=True)
class Availability:
    """The outcome of trying to load one dataset; ``source`` is ``None`` if it is missing."""

    record: Record
    source: str | None
    reasons: tuple[str, ...] = ()
    """Why it is missing, or what was amiss with the sources before the one that worked."""

    @property
    def verified(self) -> bool:
        return self.source is not None

    @property
    def remedy(self) -> str:
        return "" if self.verified else remedy(self.record)


def availability(
    name: str,
    mirror: Path | None = None,
    cache: Path | None = None,
    sources: Sequence[str] | None = None,
) -> Availability:
    """Load and verify a dataset, and report what happened instead of raising."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        try:
            source = load_dataset(name, mirror, cache=cache, sources=sources).source
        except DatasetUnavailable as error:
            return Availability(record(name), None, error.failures)
    notes = dict.fromkeys(str(one.message) for one in caught if one.category is DataWarning)
    return Availability(record(name), source, tuple(notes))
