"""What the protocols share: the name, the version, and the shares of the three parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from datasets.dataset import Dataset
from datasets.split import Split

FIRST_SEED = 42
TEST_SHARE = VALID_SHARE = 0.2


@dataclass(frozen=True)
class Protocol:
    """A named way to split and prepare a dataset.

    ``version`` is bumped whenever the same dataset and trial may give other numbers.
    """

    name: str
    version: str
    summary: str
    split: Callable[[Dataset, int], Split]


def data_seed(trial: int) -> int:
    """The seed of a trial's split; the paper's trials 0..9 have seeds 42..51."""
    if trial < 0:
        raise ValueError(f"trial {trial} is negative; trials count from 0")
    return FIRST_SEED + trial
