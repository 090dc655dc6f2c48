"""Cross-validation of a candidate.

Under ``paper``, folds are cut as the authors did for the baselines: from the encoded, rebalanced
training and validation rows of the split, so that a row's copies and its leaking codes fall on
both sides. Under ``clean``, folds are cut from the raw rows and everything is learned inside them.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datasets.split import Parts, Split
from experiments.runner import registry
from experiments.runner.run_job import cannot, load_split, timed_fit
from experiments.runner.scores import f1_on
from experiments.runs.job import Job, canonical_json

SEED = 42
STOPPING_SHARE = 0.1
"""Of a fold's training rows, for learners that stop early; the others train on all of them."""


def cross_validate(job: Job) -> dict[str, Any]:
    """Fit and score a candidate on every fold; the mean is ``valid_f1``."""
    learner, count = registry.learner(job.method), int(job.evaluation.removeprefix("cv:"))
    scores, wall, cpu = [], 0.0, 0.0
    for split in make_folds(job.dataset, job.protocol, job.trial, count):
        if skipped := cannot(learner, split, job):
            return skipped
        fitted, fold_wall, fold_cpu = timed_fit(learner, split, job)
        scores.append(f1_on(fitted.estimator, split.X_test, split.y_test, split.n_classes))
        wall += fold_wall
        cpu += fold_cpu
    return job.run(
        "ok",
        valid_f1=float(np.mean(scores)),
        wall_seconds=round(wall, 4),
        cpu_seconds=round(cpu, 4),
        extra=canonical_json({"folds": scores}),
    )


@lru_cache(maxsize=2)
def make_folds(dataset: str, protocol: str, trial: int, count: int) -> tuple[Split, ...]:
    """The folds as splits: a fold to test, a tenth of the rest to stop by, the others to train."""
    split = load_split(dataset, protocol, trial)
    if registry.find("protocol", protocol).folds_anew and split.rows is not None:
        how = importlib.import_module(f"datasets.protocols.{split.provenance.protocol}")
        raw = registry.load_dataset(dataset)
        rows = np.concatenate([split.rows.train, split.rows.valid])
        parts = [Parts(*(rows[part] for part in fold)) for fold in cut(raw.y[rows], count)]
        return tuple(how.split_of(raw, part, trial) for part in parts)
    X, y = split.X_train_valid, split.y_train_valid
    names = ("X_train", "X_valid", "X_test", "y_train", "y_valid", "y_test")
    folds = []
    for fold in cut(y, count):
        arrays: Any = zip(names, [array[part] for array in (X, y) for part in fold], strict=True)
        folds.append(replace(split, rows=None, **dict(arrays)))
    return tuple(folds)


def cut(y: NDArray[np.int64], count: int) -> Iterator[tuple[NDArray[np.intp], ...]]:
    """Stratified, shuffled folds; of each fold's other rows a tenth is set aside."""
    from sklearn.model_selection import StratifiedKFold, train_test_split

    for rest, test in StratifiedKFold(count, shuffle=True, random_state=SEED).split(y, y):
        train, stop = train_test_split(rest, test_size=STOPPING_SHARE, random_state=SEED)
        yield train, stop, test
