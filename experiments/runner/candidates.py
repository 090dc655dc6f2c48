"""The candidates of a search: the space, the draw (a pure function of what it is for), the job, and
its cross-validation.

Under ``paper``, folds are cut as the authors did for the baselines: from the encoded, rebalanced
training and validation rows of the split, so that a row's copies and its leaking codes fall on
both sides. Under ``clean``, folds are cut from the raw rows and everything is learned inside them.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datasets.split import Parts, Split
from experiments.errors import UserError
from experiments.runner import registry
from experiments.runner.experiments import MODEL_SEED, Subject, identity_of, params_of
from experiments.runner.run_job import cannot, load_split, timed_fit
from experiments.runner.scores import f1_on
from experiments.runs.job import Job, canonical_json

SEED = 42
TRIALS = 300
FOLDS = 3
DURING_SEARCH: Mapping[str, Mapping[str, Any]] = {"gradtree": {"restarts": 0}}
"""Candidates are compared without restarts; the winner gets the paper's number of them."""
FIRST_TRIAL = 0
"""The paper tuned on the split of data seed 42 alone."""
STOPPING_SHARE = 0.1
"""Of a fold's training rows, for learners that stop early; the others train on all of them."""


def draw(choices: Sequence[Any], *what_for: Any) -> Any:
    """One of ``choices``, decided by a hash of ``what_for`` and by nothing else."""
    digest = hashlib.sha256(canonical_json(what_for).encode()).digest()
    return choices[int.from_bytes(digest, "big") % len(choices)]


def space_of(method: str) -> Mapping[str, Sequence[Any]]:
    """The declared space of a learner; one without cannot be searched."""
    space = registry.learner(method).space
    if not space:
        searchable = [slug for slug, one in registry.learners().items() if one.space]
        raise UserError(f"{method} declares no search space; these do: {', '.join(searchable)}")
    return space


def candidate(dataset: str, method: str, number: int, seed: int = SEED) -> dict[str, Any]:
    """Candidate ``number``; stopping, resuming, sharding and order cannot change it."""
    return {
        name: draw(choices, seed, dataset, method, number, name)
        for name, choices in space_of(method).items()
    }


def complete(subject: Subject, drawn: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of a learner: those drawn, the others as in the tuned experiment."""
    published = params_of("published", subject.protocol, subject.method, subject.dataset)
    return {**published, **drawn}


def candidate_job(subject: Subject, drawn: Mapping[str, Any]) -> Job:
    """Cross-validate one candidate."""
    protocol, dataset, method = subject.protocol, subject.dataset, subject.method
    params = complete(subject, drawn) | dict(DURING_SEARCH.get(method, {}))
    simple = registry.learner(method).simplify(params, registry.facts(dataset).task)
    what = (protocol, "search", dataset, method, Job.freeze(simple), FIRST_TRIAL, MODEL_SEED)
    return Job(*what, evaluation=f"cv:{FOLDS}", **identity_of(protocol, dataset, method))


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
