"""Do one job in this process: load its split, fit, measure, and say how it ended.

Whatever a learner does that Python can see ends in a record here. What Python
cannot see (a hang, a crash in native code) is the business of the executors.
"""

from __future__ import annotations

import contextlib
import random
import resource
import time
import traceback
from dataclasses import fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from datasets.errors import DatasetUnavailable
from experiments.core import machine, predictions
from experiments.core.job import HOLDOUT, Job, now
from experiments.core.record import SHARED_SECONDS, Outcome, RunRecord, Status
from experiments.runner import plugins
from experiments.runner.scores import Measurement, measure

if TYPE_CHECKING:
    from baselines.contract import Fitted, Learner
    from datasets.split import Split
    from gradtree.trees.tree import Tree


WARM_UP_ROWS = 100
NO_DATA = "no data"
"""Why a job is skipped whose dataset no source delivers; the record's log says what to do."""
NO_WEIGHTS = "takes no weights"
"""Why a learner is skipped under a protocol whose point is to weigh rows."""

_WARM: set[str] = set()


def perform(job: Job) -> Outcome:
    """Run one job to its end in this process."""
    machine.reset_peak()
    try:
        outcome = _attempt(job)
    except KeyboardInterrupt:
        raise
    except DatasetUnavailable as problem:
        record = RunRecord.of(job, "skipped", reason=NO_DATA, log_tail=str(problem))
        outcome = Outcome(record)
    except BaseException as problem:  # a learner may raise anything, SystemExit included
        outcome = Outcome(failure(job, problem))
    finished = replace(
        outcome.record,
        peak_memory_mb=machine.peak_mb(),
        environment=machine.describe()["id"],
        commit=machine.commit(),
        finished=now(),
    )
    return Outcome(finished, outcome.predictions)


def _attempt(job: Job) -> Outcome:
    reason = skip_reason(job)
    if reason:
        return Outcome(RunRecord.of(job, "skipped", reason=reason))
    check_versions(job)
    if job.evaluation != HOLDOUT:
        from experiments.runner.candidates import cross_validate

        return Outcome(cross_validate(job))
    split = load_split(job.dataset, job.protocol, job.trial)
    learner = plugins.learner(job.method)
    shape = [split.n_features, split.n_classes]
    reason = learner.why_not(*shape)
    if reason:
        return Outcome(RunRecord.of(job, "skipped", reason=reason, extra={"shape": shape}))
    if job.measured == "alone":
        warm_up(learner, split, job)
    fitted, wall, cpu = timed_fit(learner, split, job)
    measurement = measure(fitted, split)
    record = RunRecord.of(
        job,
        "ok",
        wall_seconds=round(wall, 4),
        cpu_seconds=round(cpu, 4),
        extra={**_calibration(job), **_shared(fitted), **fitted.extra},
        **measurement.scores,
    )
    return Outcome(record, packed(measurement, fitted.tree))


def packed(measurement: Measurement, tree: Tree | None) -> bytes:
    """What is kept of a job beside its record: predictions, and its tree part by part."""
    parts = {} if tree is None else {part.name: getattr(tree, part.name) for part in fields(tree)}
    kept = {name: value for name, value in parts.items() if value is not None}
    return predictions.pack(measurement.truth, measurement.predicted, measurement.proba, kept)


def timed_fit(learner: Learner, split: Split, job: Job) -> tuple[Fitted, float, float]:
    """Fit with the job's seed; seconds on the wall and of CPU, children included."""
    random.seed(job.seed)
    np.random.seed(job.seed)  # noqa: NPY002 - learners of others draw from the global stream
    wall, cpu = time.perf_counter(), _cpu_seconds()
    fitted = learner.fit(split, job.params, job.seed)
    return fitted, time.perf_counter() - wall, _cpu_seconds() - cpu


def warm_up(learner: Learner, split: Split, job: Job) -> None:
    """Import and compile what a learner needs, where seconds are the result.

    Once per process and learner, on a few rows; whatever goes wrong here will
    go wrong again where it is recorded.
    """
    if learner.slug in _WARM:
        return
    _WARM.add(learner.slug)
    train, valid = slice(0, WARM_UP_ROWS), slice(0, WARM_UP_ROWS // 2)
    few = replace(
        split,
        X_train=split.X_train[train],
        y_train=split.y_train[train],
        X_valid=split.X_valid[valid],
        y_valid=split.y_valid[valid],
    )
    with contextlib.suppress(Exception):
        learner.fit(few, job.params, job.seed)


def skip_reason(job: Job) -> str | None:
    """Why a job cannot be done here, as far as that is known without its data."""
    learner = plugins.learner(job.method)
    known = plugins.facts(job.dataset)
    if plugins.protocol_weighs(job.protocol) and not learner.takes_weights:
        return NO_WEIGHTS
    # Elsewhere encoding may change the number of features.
    if plugins.protocol_base(job.protocol) == "paper":
        return learner.why_not(known.n_features, len(known.class_counts))
    return learner.absence()


def check_versions(job: Job) -> None:
    """Refuse work that was planned for other data or code than this process has."""
    here = {
        f"dataset {job.dataset}": (job.content_hash, plugins.facts(job.dataset).content_hash),
        f"protocol {job.protocol}": (job.protocol_version, plugins.protocol_version(job.protocol)),
        f"learner {job.method}": (job.method_version, plugins.learner(job.method).version),
    }
    for what, (planned, found) in here.items():
        if planned != found:
            raise RuntimeError(
                f"{what} is {found!r} here, the job was planned with {planned!r}: "
                "bring this checkout to the version that made the plan"
            )


def failure(job: Job, problem: BaseException) -> RunRecord:
    """The record of a job whose learner raised."""
    status: Status = "memory" if isinstance(problem, MemoryError) else "error"
    text = "".join(traceback.format_exception(problem))
    reason = f"{type(problem).__name__}: {_message(problem)}".strip().splitlines()[0]
    return RunRecord.of(job, status, reason=reason, traceback=text)


def _message(problem: BaseException) -> str:
    """What an exception says, if it can say it."""
    try:
        return str(problem)
    except Exception:  # a learner's exception may fail even at that
        return "its message could not be made"


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _calibration(job: Job) -> dict[str, Any]:
    """How fast this machine is just now, where seconds are the result."""
    if job.measured != "alone":
        return {}
    from experiments.core.machine import calibrate

    return {"calibration_ms": round(1000 * calibrate(), 2)}


def _shared(fitted: Fitted) -> dict[str, float]:
    """What other fits of the same worker did for this one."""
    return {SHARED_SECONDS: round(fitted.shared_seconds, 4)} if fitted.shared_seconds else {}


UNAVAILABLE: dict[str, Exception] = {}
"""Datasets that could not be had: asked for once per process, not once per job."""


@lru_cache(maxsize=10)
def load_split(dataset: str, protocol: str, trial: int) -> Split:
    """One trial of a protocol on a dataset of the suite or of a plug-in."""
    extra = plugins.extras().datasets.get(dataset)
    if extra is not None:
        return extra.split(protocol, trial)
    import datasets

    return datasets.make_split(load_dataset(dataset), protocol, trial)


@lru_cache(maxsize=2)
def load_dataset(dataset: str) -> Any:
    """The verified raw table; a failure to get it is remembered.

    ``None`` for a plug-in's dataset that is known by its splits alone.
    """
    extra = plugins.extras().datasets.get(dataset)
    if extra is not None:
        return extra.table
    import datasets

    if dataset in UNAVAILABLE:
        raise UNAVAILABLE[dataset]
    try:
        return datasets.load_dataset(dataset)
    except datasets.DatasetUnavailable as problem:
        UNAVAILABLE[dataset] = problem
        raise
