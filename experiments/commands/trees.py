"""``trees``: gather what the report draws beside the records, in the units of the raw data.

This is the one part of the report that needs data and learners, because only
the fitted preprocessing knows what a threshold means; its outcome is kept as JSON.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.commands import arguments, selection
from experiments.commands.raw_units import in_raw_units
from experiments.core import predictions
from experiments.core.job import Job
from experiments.core.record import RunRecord
from experiments.render.figures.trees import Curve
from experiments.render.report.payload import NO_NEW_ROW
from experiments.runner import plugins
from experiments.runner.catalogue import jobs_of
from experiments.runner.perform import load_dataset, load_split

if TYPE_CHECKING:
    import pandas as pd

    from baselines.contract import Fitted
    from datasets.split import Split
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
DRAWN_DEPTH = 4


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "trees",
        help="write the trees and training curves that the report draws",
        description=(
            "Write one file per dataset with the trees of the first trial, with splits in the "
            "units of the raw data, and the training curves of a few datasets. Trees that are not "
            "in the store are fitted again. Needs the data."
        ),
    )
    parser.add_argument("--dataset", type=arguments.words, metavar="A,B", help="default: all 36")
    parser.add_argument(
        "--method",
        type=arguments.words,
        metavar="A,B",
        help="default: gradtree,cart,dl85,genetictree",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path(".runs/trees"),
        metavar="FOLDER",
        help="where to write (default: %(default)s; the report reads results/trees)",
    )
    arguments.add_store(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.core.store import Store
    from experiments.render.report.payload import write_curves, write_trees

    selection.check("method", args.method, METHODS)
    records = Store(args.store).latest()
    curves: list[Curve] = []
    for slug in selection.dataset_slugs(args.dataset):
        found = gather(
            slug,
            records,
            args.store,
            methods=args.method or METHODS,
            curves=slug in CURVE_DATASETS,
        )
        curves += found.curves
        path = write_trees(args.output, slug, found.trees)
        print(f"{path}: {', '.join(entry['method'] for entry in found.trees) or 'no tree'}")
    if curves and not args.dataset:
        print(write_curves(args.output, curves))
    return 0


@dataclass(frozen=True)
class Gathered:
    """What one dataset gave: entries for the file of trees, and the curves of its GradTree."""

    trees: tuple[Mapping[str, Any], ...]
    curves: tuple[Curve, ...]


def gather(
    dataset: str,
    records: Mapping[str, RunRecord],
    folder: Path,
    *,
    experiment: str = "tuned",
    protocol: str = "paper",
    methods: Sequence[str] = METHODS,
    trial: int = 0,
    curves: bool = False,
) -> Gathered:
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
            tree = load_tree(folder, record)
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
    return Gathered(tuple(entries), tuple(histories))


def _fit(job: Job) -> Fitted | None:
    """The job's learner trained as the runner would; ``None`` where it cannot be."""
    from experiments.runner.perform import skip_reason, timed_fit

    if skip_reason(job):
        return None
    split = load_split(job.dataset, job.protocol, job.trial)
    return timed_fit(plugins.learner(job.method), split, job)[0]


def _measured(job: Job, fitted: Fitted) -> RunRecord:
    from experiments.runner.scores import measure

    split = load_split(job.dataset, job.protocol, job.trial)
    return RunRecord.of(job, "ok", test_f1=measure(fitted, split).scores["test_f1"])


def _entry(tree: Tree, job: Job, record: RunRecord) -> dict[str, Any]:
    split = load_split(job.dataset, job.protocol, job.trial)
    raw = None
    if split.rows is not None and (table := load_dataset(job.dataset)) is not None:
        raw = table.X.iloc[split.rows.train]
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


def load_tree(folder: Path, record: RunRecord) -> Tree | None:
    """The canonical tree of one record, where it was kept."""
    from gradtree.trees.tree import Tree

    arrays = predictions.load(folder, record) or {}
    parts: dict[str, Any] = {
        name.removeprefix("tree_"): value
        for name, value in arrays.items()
        if name.startswith("tree_")
    }
    if not parts:
        return None
    parts["n_features"] = int(parts["n_features"])
    return Tree(**parts)


def describe_tree(
    tree: Tree, split: Split, record: RunRecord, experiment: str, raw: pd.DataFrame | None
) -> dict[str, Any]:
    """One entry of the file: a learned tree with every split in the units of the raw data.

    Parameters
    ----------
    tree : as learned on ``split``.
    split : with its fitted ``preprocessing``, which is what is undone here.
    record : the run that made the tree.
    experiment : the experiment as part of which it is shown.
    raw : raw rows, best those of training: borders have as few digits as tell them apart.
        Without any, splits are in the numbers that the tree was trained on.
    """
    from gradtree.units.conditions import NOTHING
    from gradtree.views.rules import describe

    def words(condition: Any) -> str:
        return NO_NEW_ROW if condition.brief == NOTHING else condition.brief.replace("<=", "≤")

    if raw is None:
        splits = describe(tree, split.feature_names)
    else:
        splits = describe(in_raw_units(tree, split.preprocessing, raw))
    return {
        "method": record.method,
        "experiment": experiment,
        "protocol": record.protocol,
        "trial": record.trial,
        "seed": record.seed,
        "test_f1": record.test_f1,
        "class_names": list(split.class_names),
        "tree": tree.to_dict(),
        "splits": {
            str(node): [sides.column, words(sides.left), words(sides.right)]
            for node, sides in sorted(splits.items())
        },
    }


def draw_trees(
    folder: Path, jobs: Sequence[Job], records: Mapping[str, RunRecord], store: Path
) -> list[Path]:
    """The tree of each learner in its first job that ended well, as files."""
    from experiments.render.figures.style import save
    from experiments.render.figures.trees import DrawnTree, trees_one_above_another

    well = [job for job in jobs if job.key in records and records[job.key].status == "ok"]
    written: list[Path] = []
    for method, job in {job.method: job for job in reversed(well)}.items():
        tree = load_tree(store, records[job.key])
        if tree is not None:
            entry = _entry(tree, job, records[job.key])
            title = f"{plugins.learner(method).name}, test F1 {records[job.key].test_f1:.3f}"
            figure = trees_one_above_another([DrawnTree(title, entry)], max_depth=DRAWN_DEPTH)
            written += save(figure, folder / method)
    return written
