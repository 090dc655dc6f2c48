"""Cross-validation of one candidate.

Under ``paper``, as the authors did for the baselines: folds are cut from the
encoded, rebalanced training and validation rows of the split, so that a row's
copies and its leaking codes fall on both sides. Under ``clean``, folds are cut
from the raw rows and everything is learned inside them.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from experiments.core.job import Job
from experiments.core.record import RunRecord
from experiments.runner import plugins
from experiments.runner.perform import load_dataset, load_split, timed_fit
from experiments.runner.scores import f1_on

if TYPE_CHECKING:
    from datasets.split import Split


CV_SEED = 42
STOPPING_SHARE = 0.1
"""Of a fold's training rows, for learners that stop early; the others train on all of them."""

Part = NDArray[np.intp]


def cross_validate(job: Job) -> RunRecord:
    """Fit and score a candidate on the folds its job names; the mean is ``valid_f1``."""
    count, wanted = parse(job.evaluation)
    learner = plugins.learner(job.method)
    folds = make_folds(job.dataset, job.protocol, job.trial, count)
    scores, wall, cpu = [], 0.0, 0.0
    for number in wanted:
        split = folds[number]
        shape = [split.n_features, split.n_classes]
        reason = learner.why_not(*shape)
        if reason:
            return RunRecord.of(job, "skipped", reason=reason, extra={"shape": shape})
        fitted, fold_wall, fold_cpu = timed_fit(learner, split, job)
        scores.append(f1_on(fitted.estimator, split.X_test, split.y_test, split.n_classes))
        wall += fold_wall
        cpu += fold_cpu
    return RunRecord.of(
        job,
        "ok",
        valid_f1=float(np.mean(scores)),
        wall_seconds=round(wall, 4),
        cpu_seconds=round(cpu, 4),
        extra={"folds": scores},
    )


def parse(evaluation: str) -> tuple[int, list[int]]:
    """``cv:3`` is all of three folds, ``cv:3/1`` the second of them."""
    count, _, one = evaluation.removeprefix("cv:").partition("/")
    return int(count), [int(one)] if one else list(range(int(count)))


@lru_cache(maxsize=2)
def make_folds(dataset: str, protocol: str, trial: int, count: int) -> tuple[Split, ...]:
    """The folds as splits: a fold to test, a tenth of the rest to stop by, the others to train."""
    split = load_split(dataset, protocol, trial)
    anew = plugins.protocol_folds_anew(protocol) and split.rows is not None
    make = _folds_anew if anew else _encoded_folds
    return tuple(make(split, dataset, trial, count))


def _encoded_folds(split: Split, dataset: str, trial: int, count: int) -> Iterator[Split]:
    X, y = split.X_train_valid, split.y_train_valid
    for train, stop, test in cut(y, count):
        yield replace(
            split,
            X_train=X[train],
            y_train=y[train],
            X_valid=X[stop],
            y_valid=y[stop],
            X_test=X[test],
            y_test=y[test],
            rows=None,
        )


def _folds_anew(split: Split, dataset: str, trial: int, count: int) -> Iterator[Split]:
    from datasets.split import Parts

    assert split.rows is not None
    split_of = importlib.import_module(f"datasets.protocols.{split.provenance.protocol}").split_of
    raw = load_dataset(dataset)
    rows = np.concatenate([split.rows.train, split.rows.valid])
    for train, stop, test in cut(raw.y[rows], count):
        yield split_of(raw, Parts(rows[train], rows[stop], rows[test]), trial)


def cut(y: NDArray[np.int64], count: int) -> Iterator[tuple[Part, Part, Part]]:
    """Stratified, shuffled folds; of each fold's other rows a tenth is set aside."""
    from sklearn.model_selection import StratifiedKFold, train_test_split

    for rest, test in StratifiedKFold(count, shuffle=True, random_state=CV_SEED).split(y, y):
        train, stop = train_test_split(rest, test_size=STOPPING_SHARE, random_state=CV_SEED)
        yield train, stop, test
