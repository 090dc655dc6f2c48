"""Whether a tree fits into memory, asked before the attempt."""

from contextlib import suppress
from pathlib import Path

import numpy as np

# Copies of the parameters during training: values, gradients and two moments, of the tree
# itself and of the best ones, and what draws and restarts need meanwhile.
COPIES = 15

LARGEST_TRAINING = 10_000_000
"""Thresholds of a tree in training, one per node and column: more would take minutes an epoch."""

LARGEST_DEPTH = 16
"""A tree in training with 65,536 leaves: more than any data here has ever kept."""


def check_fits(depth: int, n_features: int, n_classes: int, dtype: str) -> None:
    """Raise ``MemoryError`` with a remedy if the parameters of a training cannot fit."""
    free = available_bytes()
    n_outputs = 1 if n_classes == 2 else n_classes
    per_node = COPIES * (2 * n_features + n_outputs) * np.dtype(dtype).itemsize
    needed = per_node * 2**depth
    if free is None or needed <= free:
        return
    deepest = (free // per_node).bit_length() - 1
    remedy = f"use depth <= {deepest}" if deepest > 0 else "use fewer features"
    raise MemoryError(
        f"depth={depth} with {n_features} features needs about {needed / 1e9:,.1f} GB, because a "
        f"tree in training has 2**depth leaves, but {free / 1e9:,.1f} GB are available; {remedy}"
    )


def check_size(depth: int, n_features: int) -> None:
    """Refuse what would take hours if it fits: every epoch copies and compares all nodes."""
    if depth > LARGEST_DEPTH:
        raise ValueError(
            f"depth={depth} is deeper than is sensible: a tree in training is complete and would "
            f"have 2**{depth} leaves; use depth <= {LARGEST_DEPTH}"
        )
    if n_features * 2**depth > LARGEST_TRAINING:
        deepest = (LARGEST_TRAINING // n_features).bit_length() - 1
        remedy = f"use depth <= {deepest}, or fewer columns" if deepest > 0 else "use fewer columns"
        raise ValueError(
            f"depth={depth} with {n_features:,} columns is more than can be trained in sensible "
            f"time, because every node of a tree in training has a threshold for every column; "
            f"{remedy}, for example those that sklearn.feature_selection.SelectKBest finds"
        )


def available_bytes() -> int | None:
    """Memory that can still be taken, as far as machine and container tell."""
    known = []
    with suppress(OSError, KeyError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        known.append(int(dict(line.split()[:2] for line in lines)["MemAvailable:"]) * 1024)
    with suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        limit, used = (int((group / f"memory.{name}").read_text()) for name in ("max", "current"))
        known.append(max(limit - used, 1))
    return min(known, default=None)
