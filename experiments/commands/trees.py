"""``trees``: write the trees that the report draws, in the units of the raw data.

The one part of the report that needs data, and learners where a store keeps no trees: only the
fitted preprocessing knows what a threshold means. Its outcome is kept as JSON.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.commands import arguments
from experiments.errors import NothingToDoError, check_names
from experiments.runs.job import Job
from experiments.runs.store import Store

if TYPE_CHECKING:
    import pandas as pd

    from experiments.runner.experiments import Setting
    from gradtree.trees.tree import Tree

METHODS = ("gradtree", "cart", "dl85", "genetictree")
EXPERIMENT, PROTOCOL, TRIAL = "tuned", "paper", 0
DRAWN_DEPTH = 4


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "trees",
        help="write the trees that the report draws",
        description=(
            "Write one file per dataset with the trees of the first tuned trial under protocol "
            "paper, with splits in the units of the raw data, for the runs of a store. Trees that "
            "the store did not keep are fitted again. Needs the data."
        ),
    )
    parser.add_argument("--dataset", type=arguments.words, metavar="A,B", help="default: all")
    parser.add_argument(
        "--method", type=arguments.words, metavar="A,B", help=f"default: {','.join(METHODS)}"
    )
    arguments.add_source(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.analysis.runs import load
    from experiments.output.report.trees import FOLDER, write_trees
    from experiments.runner import registry
    from experiments.text import say

    check_names("method", args.method, METHODS)
    arguments.require_store(args.store)
    runs = load(args.store, args.params or "published")
    rows = runs.of(PROTOCOL, EXPERIMENT)
    rows = rows[(rows["status"] == "ok") & (rows["trial"] == TRIAL)]
    known = list(dict.fromkeys(rows["dataset"]))
    wanted = [registry.resolve_dataset(name) for name in args.dataset or known]
    check_names("dataset with tuned runs in this store", wanted, known)
    if not wanted:
        raise NothingToDoError(f"{args.store} has no runs of {EXPERIMENT} under {PROTOCOL}")
    for dataset in wanted:
        own = rows[rows["dataset"] == dataset].set_index("key")
        found = tree_entries(dataset, own, Store(runs.store), args.method or METHODS, args.params)
        entries = list(found)
        path = write_trees(arguments.output_folder(args) / FOLDER, dataset, entries)
        say(f"{path}: {', '.join(entry['method'] for entry in entries) or 'no tree'}")
    return 0


def tree_entries(
    dataset: str,
    rows: pd.DataFrame,
    store: Store,
    methods: Sequence[str] = METHODS,
    setting: Setting | None = None,
) -> Iterator[dict[str, Any]]:
    """Trees of a dataset's runs (indexed by key), kept by the store or fitted again."""
    from experiments.runner.experiments import jobs_of
    from experiments.runner.raw_units import tree_entry
    from experiments.runner.registry import learner
    from experiments.runner.run_job import load_split, timed_fit

    same = (EXPERIMENT, PROTOCOL, [dataset], methods, [TRIAL], setting, store.folder)
    for job in jobs_of(*same):
        if job.key not in rows.index:
            continue
        split = load_split(dataset, PROTOCOL, TRIAL)
        tree = kept_tree(store, job.key) or timed_fit(learner(job.method), split, job)[0].tree
        if tree is not None:
            outcome = {**rows.loc[job.key], **_identity(job)}
            yield tree_entry(tree, split, _raw(job), outcome)


def _identity(job: Job) -> dict[str, Any]:
    names = ("method", "experiment", "protocol", "trial", "seed")
    return {name: getattr(job, name) for name in names}


def kept_tree(store: Store, key: str) -> Tree | None:
    """The tree that a run left in a store, where it did."""
    from experiments.runs.predictions import tree_parts
    from gradtree.trees.tree import Tree

    packed = store.predictions(key) if store.exists else None
    parts = tree_parts(packed) if packed else None
    return Tree(**parts) if parts else None


def _raw(job: Job) -> pd.DataFrame | None:
    """The raw training rows of a job; ``None`` where a plug-in has no table."""
    from experiments.runner.registry import load_dataset
    from experiments.runner.run_job import load_split

    rows = load_split(job.dataset, job.protocol, job.trial).rows
    table = load_dataset(job.dataset)
    return None if rows is None or table is None else table.X.iloc[rows.train]


def draw_trees(folder: Path, jobs: Iterable[Job], store: Store) -> list[Path]:
    """The tree of each learner in its first job that ended well, as SVG, PDF and PNG."""
    from experiments.analysis import drawing
    from experiments.output import figures
    from experiments.output.report.trees import codes_note
    from experiments.runner.raw_units import in_raw_units
    from experiments.runner.registry import learner
    from experiments.runner.run_job import load_split
    from experiments.text import NO_NEW_ROW
    from gradtree.units.conditions import NOTHING
    from gradtree.views.plot import drawing_inches, plot_tree

    datasets = store.facts("dataset")
    written: list[Path] = []
    drawn: set[str] = set()
    for job in jobs:
        outcome = None if job.method in drawn else store.run(job.key)
        tree = kept_tree(store, job.key)
        if outcome is None or outcome["status"] != "ok" or tree is None:
            continue
        drawn.add(job.method)
        split, raw = load_split(job.dataset, job.protocol, job.trial), _raw(job)
        names = split.feature_names if raw is None else None
        shown = tree if raw is None else in_raw_units(tree, split.preprocessing, raw)
        shown = replace(shown, n_node_samples=tree.n_node_samples)  # of training, as coded there
        width, height = drawing_inches(shown, DRAWN_DEPTH)
        with drawing.look():
            figure = drawing.canvas(max(width, drawing.PAGE_WIDTH), height + 0.8)
            axes = figure.add_subplot()
            plot_tree(
                shown,
                feature_names=names,
                class_names=split.class_names,
                max_depth=DRAWN_DEPTH,
                ax=axes,
            )
            axes.set_title(
                f"{learner(job.method).name}, trial {job.trial}, test F1 {outcome['test_f1']:.3f}"
            )
            note = codes_note(datasets.get(job.dataset, {}), job.protocol)
            figure.supxlabel(note.replace(NO_NEW_ROW, NOTHING), fontsize=7, wrap=True)
        written += figures.save(figure, folder / job.method)
    return written
