"""Which rows go into the training, validation and test part of a trial."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from datasets.protocols.base import HELD_OUT_SHARE
from datasets.split import Parts

SMALLEST_STRATUM = 5


def random_parts(n_rows: int, seed: int) -> Parts:
    """Draw the rows of the test part, then of the validation part, of 20 % each.

    Quirk: not stratified, so a rare class may be absent from a part. Quirk: both shares
    are of the whole (60/20/20), where the paper says 20 % of the training rows (64/16/20).
    """
    held_out = int(HELD_OUT_SHARE * n_rows)
    rest, test = train_test_split(np.arange(n_rows), test_size=held_out, random_state=seed)
    train, valid = train_test_split(rest, test_size=held_out, random_state=seed)
    return Parts(train, valid, test)


def stratified_parts(y: NDArray[np.int64], seed: int) -> Parts:
    """Stratified parts of 60, 20 and 20 % of the rows that have a label."""
    labelled = np.flatnonzero(y >= 0)
    stratum = strata(y[labelled])
    held_out = int(HELD_OUT_SHARE * len(labelled))
    places = np.arange(len(labelled))
    rest, test = train_test_split(places, test_size=held_out, random_state=seed, stratify=stratum)
    train, valid = train_test_split(
        rest, test_size=held_out, random_state=seed, stratify=stratum[rest]
    )
    return Parts(labelled[train], labelled[valid], labelled[test])


def strata(y: NDArray[np.int64]) -> NDArray[np.int64]:
    """The class of each row, classes too rare for every part to get a row pooled together.

    With parts of 20 %, a class needs five rows to have one in each part. The rarest classes
    are pooled, smallest first, until the pool has five rows; a class of the pool may then be
    absent from a part, which cannot be helped.
    """
    classes, counts = np.unique(y, return_counts=True)
    order = np.argsort(counts, kind="stable")
    pooled = 1 + int(np.searchsorted(np.cumsum(counts[order]), SMALLEST_STRATUM))
    pool = classes[order[:pooled]]
    return np.where(np.isin(y, pool), pool[-1], y)
