"""What the protocols share: names, versions, seeds, and the shares of the three parts."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_SEED = 42
HELD_OUT_SHARE = 0.2
"""Share of the test part, and of the validation part, in all rows."""


@dataclass(frozen=True)
class Protocol:
    """A named way to split and prepare a dataset.

    Attributes
    ----------
    name : a slug, so that it can stand in jobs, stores and file names.
    version : bumped whenever the same dataset and trial may give other numbers.
    summary : one line for lists.
    base : the protocol that this one is a variant of; its own name if it is none. The
        module ``datasets.protocols.<base>`` prepares the data in its ``split(dataset, trial)``.
    folds_anew : whether a cross-validation prepares each fold from the raw rows of its own.
    """

    name: str
    version: str
    summary: str
    base: str
    folds_anew: bool = False


PAPER = Protocol("paper", "1", "what produced the paper's numbers, quirks included", "paper")
CLEAN = Protocol(
    "clean", "1", "stratified, cross-fitted, learned from training rows only", "clean", True
)
DECLARED = (PAPER, CLEAN)
"""A protocol is an entry here and the module that it names; everything else follows."""


def data_seed(trial: int) -> int:
    """The seed of a trial's split; the paper's trials 0..9 have seeds 42..51."""
    if trial < 0:
        raise ValueError(f"trial {trial} is negative; trials count from 0")
    return FIRST_SEED + trial
