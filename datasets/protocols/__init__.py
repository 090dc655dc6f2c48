"""How a dataset becomes train, validation and test parts: as in the paper, or cleanly.

The versions are known without importing what the protocols need.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from datasets.protocols.base import PROTOCOLS, Protocol, data_seed

if TYPE_CHECKING:
    from datasets.dataset import Dataset
    from datasets.split import Split

__all__ = ["PROTOCOLS", "Protocol", "data_seed", "make_split"]


def make_split(dataset: Dataset, protocol: str, trial: int) -> Split:
    """Split and prepare a dataset for one trial of a protocol ("paper" or "clean")."""
    if protocol not in PROTOCOLS:
        raise ValueError(f"no protocol {protocol!r}; known are {', '.join(PROTOCOLS)}")
    split: Split = importlib.import_module(f"{__name__}.{protocol}").split(dataset, trial)
    return split
