"""The candidates of a search: the space, the draw (a pure function of what it is for), the jobs,
and their cross-validation.

Under ``paper``, folds are cut as the authors did for the baselines: from the
encoded, rebalanced training and validation rows of the split, so that a row's
copies and its leaking codes fall on both sides. Under ``clean``, folds are cut
from the raw rows and everything is learned inside them.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from experiments.core.job import Job, canonical_json
from experiments.core.record import RunRecord
from experiments.core.searched import FOLDER, read_scores, winners_for
from experiments.core.store import LOCAL
from experiments.runner import plugins
from experiments.runner.catalogue import MODEL_SEED, all_datasets, params_of
from experiments.runner.perform import load_dataset, load_split, timed_fit
from experiments.runner.scores import f1_on

if TYPE_CHECKING:
    from datasets.split import Split


SEED = 42
TRIALS = 300
FOLDS = 3
METHODS = ("gradtree", "dndt", "genetictree", "cart")
"""Searched unless others are named: every learner that the paper tuned."""

DURING_SEARCH: Mapping[str, Mapping[str, Any]] = {"gradtree": {"restarts": 0}}
"""Candidates are compared without restarts; the winner gets the paper's number of them."""


def draw(choices: Sequence[Any], *what_for: Any) -> Any:
    """One of ``choices``, decided by a hash of ``what_for`` and by nothing else."""
    digest = hashlib.sha256(canonical_json(what_for).encode()).digest()
    return choices[int.from_bytes(digest, "big") % len(choices)]


def space_of(method: str) -> Mapping[str, Sequence[Any]]:
    """The declared space of a learner; one without cannot be searched."""
    space = plugins.learner(method).space
    if not space:
        raise ValueError(f"{method} declares no search space, so there is nothing to search")
    return space


def candidate(dataset: str, method: str, number: int, seed: int = SEED) -> dict[str, Any]:
    """What trial ``number`` of the random search draws.

    Stopping, resuming, sharding and the order of evaluation cannot change it.
    """
    return {
        name: draw(choices, seed, dataset, method, number, name)
        for name, choices in space_of(method).items()
    }


def complete(protocol: str, dataset: str, method: str, drawn: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of a learner: those drawn, the others as in the tuned experiment."""
    return {**params_of("published", protocol, method, dataset), **drawn}


FIRST_TRIAL = 0
"""The paper tuned on the split of data seed 42 alone."""


def search_jobs(
    protocol: str,
    datasets: Iterable[str] | None = None,
    methods: Iterable[str] | None = None,
    numbers: Iterable[int] = range(TRIALS),
    seed: int = SEED,
) -> list[Job]:
    """The jobs of the random search; candidates drawn twice are one piece of work."""
    return [
        candidate_job(protocol, dataset, method, candidate(dataset, method, number, seed))
        for dataset in (all_datasets() if datasets is None else datasets)
        for method in (METHODS if methods is None else methods)
        for number in numbers
    ]


def candidate_job(
    protocol: str, dataset: str, method: str, drawn: Mapping[str, Any], fold: int | None = None
) -> Job:
    """Cross-validate one candidate: all folds, or one of them."""
    params = complete(protocol, dataset, method, drawn)
    params.update(DURING_SEARCH.get(method, {}))
    params = plugins.learner(method).simplify(params, plugins.facts(dataset).task)
    return Job(
        protocol=protocol,
        experiment="search",
        dataset=dataset,
        method=method,
        params_json=Job.freeze(params),
        trial=FIRST_TRIAL,
        seed=MODEL_SEED,
        evaluation=f"cv:{FOLDS}" if fold is None else f"cv:{FOLDS}/{fold}",
        content_hash=plugins.facts(dataset).content_hash,
        protocol_version=plugins.protocol_version(protocol),
        method_version=plugins.learner(method).version,
    )


_store = LOCAL


def use_winners_of(store: Path) -> None:
    """Let ``--params ours`` mean what was found in this store, where it has been searched."""
    global _store
    _store = store
    params_of.cache_clear()


def winning_params(
    protocol: str, dataset: str, method: str, budget: int | None = None
) -> dict[str, Any]:
    """All parameters of the winner, or of the best among the first ``budget`` candidates.

    The published ones where every candidate was skipped.
    """
    for winner in winners_for(_store):
        if winner.subject == (protocol, dataset, method):
            drawn = winner.params
            if budget is not None and budget < winner.trials:
                drawn = candidate(dataset, method, _best_of(winner.subject, budget))
            return complete(protocol, dataset, method, drawn)
    tables = [read_scores(folder, protocol, dataset) for folder in (_store / "search", FOLDER)]
    if any(scores.all_skipped(method) for scores in tables):
        return complete(protocol, dataset, method, {})  # will be skipped, and say why
    raise LookupError(
        f"no search of {method} on {dataset} under {protocol} has been finished; run "
        f"`python -m experiments search --protocol {protocol} --dataset {dataset} "
        f"--method {method}`"
    )


def _best_of(subject: tuple[str, str, str], budget: int) -> int:
    """The number of the best candidate among the first; 0 where none of them had a score."""
    protocol, dataset, method = subject
    for folder in (_store / "search", FOLDER):
        scores = read_scores(folder, protocol, dataset)
        if not scores.missing(method, budget):
            return scores.best(method, budget) or 0
    raise LookupError(
        f"the scores of {method} on {dataset} under {protocol} are not kept, so the best of "
        f"{budget} is not known; run `python -m experiments search` for it"
    )


def published_choice(protocol: str, dataset: str, method: str) -> dict[str, Any]:
    """The paper's values of the parameters that are searched."""
    params = complete(protocol, dataset, method, {})
    return {name: params.get(name) for name in space_of(method)}


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
