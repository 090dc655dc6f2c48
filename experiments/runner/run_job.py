"""Do one job in this process: load its split, fit, measure, and end as a row of the table of runs.

Whatever a learner does that Python can see ends in a row here; what Python cannot see (a hang, a
crash in native code) is the business of the executors. A learner gets read-only arrays without
the labels of the test rows; executors give learners of plug-ins a process each, so that nothing
they change reaches another job.
"""

import contextlib
import copy
import random
import re
import resource
import time
import traceback
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import datasets
from baselines.contract import Fitted, Learner
from datasets.errors import DatasetUnavailable
from datasets.split import Split
from experiments.runner import machine, registry
from experiments.runner.experiments import identity_of
from experiments.runner.scores import PredictionError, measure
from experiments.runs.archive import pack
from experiments.runs.schema import BY_NAME, HOLDOUT, LONGEST_JSON, Job, Status, canonical_json, now

WARM_UP_ROWS = 100
NO_DATA = "no data"
"""Why a job is skipped whose dataset no source delivers; the log says what to do."""
_UNFIT = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]"
)
"""Control characters but tabs and line ends, marks that turn text around, lone surrogates."""


@dataclass(frozen=True)
class Outcome:
    """What a job leaves: its row, its packed predictions, versions and machine it ran with."""

    run: dict[str, Any]
    predictions: bytes | None = None
    environment: dict[str, Any] | None = None


_ARRAYS = ("X_train", "y_train", "X_valid", "y_valid", "X_test")
_HIDDEN = ("y_test", "rows", "preprocessing")


@lru_cache(maxsize=10)
def for_learners(split: Split) -> Split:
    """A split without the labels of the test rows; one object, so that its fits can share work."""
    seen = copy.copy(split)
    for name in _HIDDEN:
        object.__delattr__(seen, name)
    return seen


def frozen(split: Split) -> Split:
    """A split whose arrays nobody can change, neither in a fit nor in a prediction."""
    arrays: Any = {name: _frozen(getattr(split, name)) for name in (*_ARRAYS, "y_test")}
    return replace(split, **arrays)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A copy, in the same order of memory, that cannot be made writable again."""
    order: Any = "C" if array.flags.c_contiguous else "F"
    flat = np.frombuffer(array.tobytes(order), dtype=array.dtype)
    return flat.reshape(array.shape, order=order)


_unavailable: dict[str, DatasetUnavailable] = {}
"""Datasets that could not be had: asked for once per process, not once per job."""


@lru_cache(maxsize=10)
def load_split(dataset: str, protocol: str, trial: int) -> Split:
    """One trial of a protocol on a dataset, read-only; prepared once for all jobs of a process."""
    if dataset in _unavailable:
        raise _unavailable[dataset]
    try:
        return frozen(registry.make_split(dataset, protocol, trial))
    except DatasetUnavailable as problem:
        _unavailable[dataset] = problem
        raise


def run_job(job: Job) -> Outcome:
    """Run one job to its end in this process."""
    machine.reset_peak()
    packed = None
    try:
        run, packed = _attempt(job)
    except KeyboardInterrupt:
        raise
    except DatasetUnavailable as problem:
        run = job.run("skipped", reason=NO_DATA, log_tail=clean(str(problem), "log_tail"))
    except BaseException as problem:  # a learner may raise anything, SystemExit included
        run = failure(job, problem)
    return finished({**run, "peak_memory_mb": machine.peak_mb()}, packed)


def finished(run: dict[str, Any], packed: bytes | None = None) -> Outcome:
    """An outcome whose row tells where and when it was made."""
    here = machine.describe()
    origin = {"environment": here["id"], "commit": machine.commit(), "finished": now()}
    return Outcome({**run, **origin}, packed, here)


def ended(job: Job, status: Status, reason: str, **more: Any) -> Outcome:
    """The outcome of a job that was ended from outside, or could not be kept."""
    return finished(job.run(status, reason=clean(reason, "reason", keep_start=True), **more))


def _attempt(job: Job) -> tuple[dict[str, Any], bytes | None]:
    reason = skip_reason(job)
    if reason:
        return job.run("skipped", reason=clean(reason, "reason")), None
    check_versions(job)
    if job.evaluation != HOLDOUT:
        from experiments.runner.candidates import cross_validate

        return cross_validate(job), None
    split = load_split(job.dataset, job.protocol, job.trial)
    learner = registry.learner(job.method)
    if skipped := cannot(learner, split, job):
        return skipped, None
    if job.measured == "alone":
        warm_up(learner, split, job)
    fitted, wall, cpu = timed_fit(learner, split, job)
    scores, kept, remarks = measure(fitted, split)
    try:
        extra = canonical_json({**remarks, **fitted.extra})
    except (TypeError, ValueError, RecursionError) as problem:
        raise PredictionError(f"extra cannot be written as JSON: {problem}") from None
    if len(extra) > LONGEST_JSON:
        raise PredictionError(f"extra has {len(extra):,} characters, over {LONGEST_JSON:,}")
    spent = {"wall_seconds": round(wall, 4), "cpu_seconds": round(cpu, 4)}
    scores["shared_seconds"] = round(fitted.shared_seconds, 4) or None
    run = job.run("ok", extra=None if extra == "{}" else extra, **spent, **scores)
    return run, pack(kept, fitted.tree)


def cannot(learner: Learner, split: Split, job: Job) -> dict[str, Any] | None:
    """The row of a job whose learner declines data of this shape."""
    shape = [split.n_features, split.n_classes]
    reason = learner.why_not(*shape)
    extra = canonical_json({"shape": shape})
    return job.run("skipped", reason=clean(reason, "reason"), extra=extra) if reason else None


def timed_fit(learner: Learner, split: Split, job: Job) -> tuple[Fitted, float, float]:
    """Fit with the job's seed; seconds on the wall and of CPU, children included."""

    def cpu_seconds() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime

    seen = for_learners(split)
    random.seed(job.seed)
    np.random.seed(job.seed)  # noqa: NPY002 - learners of others draw from the global stream
    wall, cpu = time.perf_counter(), cpu_seconds()
    fitted = learner.fit(seen, job.parameters, job.seed)
    return fitted, time.perf_counter() - wall, cpu_seconds() - cpu


_warm: set[str] = set()


def warm_up(learner: Learner, split: Split, job: Job) -> None:
    """Import and compile what a learner needs, where seconds are the result: once per process and
    learner, on a few rows. What goes wrong here will go wrong again where it is recorded.
    """
    if learner.slug in _warm:
        return
    _warm.add(learner.slug)
    rows = {name: WARM_UP_ROWS // (1 if "train" in name else 2) for name in _ARRAYS[:4]}
    few: Any = {name: getattr(split, name)[:count] for name, count in rows.items()}
    with contextlib.suppress(Exception):
        learner.fit(for_learners(replace(split, **few)), job.parameters, job.seed)


def skip_reason(job: Job) -> str | None:
    """Why a job cannot be done here, as far as that is known without its data."""
    learner = registry.learner(job.method)
    variant = datasets.PROTOCOLS.get(job.protocol)
    if variant and variant.steps.rare_classes == "weigh" and not learner.takes_weights:
        return "takes no weights"
    known = registry.facts(job.dataset)
    n_classes = len(known.class_counts)
    # Elsewhere encoding may change the number of features.
    if registry.find("protocol", job.protocol).base == "paper":
        return learner.why_not(known.n_features, n_classes)
    return learner.unfit(n_classes) or learner.absence()


def check_versions(job: Job) -> None:
    """Refuse work that was planned for other data or code than this process has."""
    for name, found in identity_of(job.protocol, job.dataset, job.method).items():
        if name != "family" and found != getattr(job, name):
            raise RuntimeError(
                f"{name} is {found!r} here, the job was planned with {getattr(job, name)!r}: "
                "bring this checkout to the version that made the plan"
            )


def failure(job: Job, problem: BaseException) -> dict[str, Any]:
    """The row of a job whose learner raised."""
    message = "its message could not be made"
    with contextlib.suppress(Exception):  # a learner's exception may fail even at that
        message = str(problem)
    reason = f"{type(problem).__name__}: {message}".strip().splitlines()[0]
    return job.run(
        "memory" if isinstance(problem, MemoryError) else "error",
        reason=clean(reason, "reason", keep_start=True),
        traceback=clean("".join(traceback.format_exception(problem)), "traceback"),
    )


def clean(text: str, column: str, *, keep_start: bool = False) -> str:
    """Text that a store, a terminal and a page can take, as long as its column allows."""
    longest = BY_NAME[column].longest
    if len(text) > longest:
        text = f"{text[: longest - 1]}…" if keep_start else f"…{text[1 - longest :]}"
    return _UNFIT.sub("?", text)
