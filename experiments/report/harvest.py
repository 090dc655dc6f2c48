"""Gather what the report draws beside the records: trees in original units, training histories.

This is the one part of the report that needs data, because only the fitted
preprocessing knows what a threshold means; its outcome is kept as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.figures.training import Curve
from experiments.planning import plugins
from experiments.planning.catalogue import jobs_of
from experiments.planning.jobs import Job
from experiments.records import artifacts
from experiments.records.record import RunRecord
from experiments.report.trees import describe_tree
from experiments.running.splits import load_dataset, load_split

if TYPE_CHECKING:
    from baselines.contract import Fitted
    from gradtree.trees.tree import Tree

METHODS = ("gradtree", "cart", "dl85", "genetictree")
CURVE_DATASETS = (
    "echocardiogram",
    "blood-transfusion",
    "banknote-authentication",
    "iris",
    "glass",
    "dermatology",
)


@dataclass(frozen=True)
class Harvest:
    """What one dataset gave: entries for the file of trees, and the curves of its GradTree."""

    trees: tuple[Mapping[str, Any], ...]
    curves: tuple[Curve, ...]


def harvest(
    dataset: str,
    records: Mapping[str, RunRecord],
    folder: Path,
    *,
    experiment: str = "tuned",
    protocol: str = "paper",
    methods: Sequence[str] = METHODS,
    trial: int = 0,
    curves: bool = False,
) -> Harvest:
    """Trees of one trial, from what the store kept or, where it kept none, fitted again.

    Parameters
    ----------
    records : of the store, by key.
    folder : of the store, where trees lie beside the records.
    curves : also train GradTree for its history, which no store keeps.
    """
    entries: list[Mapping[str, Any]] = []
    histories: list[Curve] = []
    for job in jobs_of(experiment, protocol, [dataset], methods, [trial]):
        record, tree = records.get(job.key), None
        if record is not None and record.status != "ok":
            continue
        if record is not None:
            tree = artifacts.load_tree(folder, record)
        wanted = curves and job.method == "gradtree"
        if tree is None or wanted:
            fitted = _fit(job)
            if fitted is None:
                continue
            tree, record = fitted.tree, record or _measured(job, fitted)
            if wanted:
                histories += _curves(job, fitted)
        if tree is not None and record is not None:
            entries.append(_entry(tree, job, record))
    return Harvest(tuple(entries), tuple(histories))


def _fit(job: Job) -> Fitted | None:
    """The job's learner trained as the runner would; ``None`` where it cannot be."""
    from experiments.running.perform import skip_reason, timed_fit

    if skip_reason(job):
        return None
    split = load_split(job.dataset, job.protocol, job.trial)
    return timed_fit(plugins.learner(job.method), split, job)[0]


def _measured(job: Job, fitted: Fitted) -> RunRecord:
    from experiments.running.measure import measure

    split = load_split(job.dataset, job.protocol, job.trial)
    return RunRecord.of(job, "ok", test_f1=measure(fitted, split).scores["test_f1"])


def _entry(tree: Tree, job: Job, record: RunRecord) -> dict[str, Any]:
    split = load_split(job.dataset, job.protocol, job.trial)
    raw = load_dataset(job.dataset).X.iloc[split.rows.train] if split.rows is not None else None
    return describe_tree(tree, split, record, job.experiment, raw)


def _curves(job: Job, fitted: Fitted) -> Iterator[Curve]:
    name = plugins.facts(job.dataset).name
    for number, run in enumerate(fitted.estimator.history_):
        yield Curve(
            dataset=name,
            run=number,
            train=run.train_loss.tolist(),
            valid=run.valid_loss.tolist(),
            best_epoch=run.best_epoch,
            chosen=number == fitted.estimator.best_run_,
        )
