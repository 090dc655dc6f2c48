"""``trees``: write the trees that the report draws, in the units of the raw data, as JSON. This
needs the data, and learners where a store keeps no trees: only fitted preprocessing knows the
units.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.analysis.runs import load
from experiments.commands import arguments
from experiments.commands.arguments import option, verb, words
from experiments.errors import DONE, NothingToDoError, check_names
from experiments.output.trees import FOLDER, codes_note, write_trees
from experiments.runner import registry
from experiments.runner.experiments import Setting, jobs_of
from experiments.runner.raw_units import in_raw_units, tree_entry
from experiments.runner.run_job import load_split, timed_fit
from experiments.runs.job import Job
from experiments.runs.predictions import tree_parts, unpack
from experiments.runs.store import Store
from experiments.text import NO_NEW_ROW, main_score, say
from gradtree.trees.regression_tree import RegressionTree
from gradtree.trees.tree import Tree

METHODS = ("gradtree", "cart", "dl85", "genetictree")
EXPERIMENT, PROTOCOL, TRIAL = "tuned", "paper", 0
DRAWN_DEPTH = 4


@verb(
    "trees",
    option("--dataset", "default: all", words, "A,B"),
    option("--method", f"default: {','.join(METHODS)}", words, "A,B", METHODS),
    arguments.SOURCE,
)
def run(args: argparse.Namespace) -> int:
    """Write the trees that the report draws.

    Write one file per dataset with the trees of the first tuned trial under protocol paper, with
    splits in the units of the raw data, for the runs of a store. Trees that the store did not keep
    are fitted again. Needs the data.
    """
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
        entries = list(tree_entries(dataset, own, Store(runs.store), args.method, args.params))
        path = write_trees(arguments.output_folder(args) / FOLDER, dataset, entries)
        say(f"{path}: {', '.join(entry['method'] for entry in entries) or 'no tree'}")
    return DONE


def tree_entries(
    dataset: str,
    rows: pd.DataFrame,
    store: Store,
    methods: Sequence[str] = METHODS,
    setting: Setting | None = None,
) -> Iterator[dict[str, Any]]:
    """Trees of a dataset's runs (indexed by key), kept by the store or fitted again."""
    same = (EXPERIMENT, PROTOCOL, [dataset], methods, [TRIAL], setting, store.folder)
    for job in (job for job in jobs_of(*same) if job.key in rows.index):
        split, learner = load_split(dataset, PROTOCOL, TRIAL), registry.learner(job.method)
        tree = kept_tree(store, job.key) or timed_fit(learner, split, job)[0].tree
        if tree is not None:
            names = ("method", "experiment", "protocol", "trial", "seed")
            outcome = {**rows.loc[job.key], **{name: getattr(job, name) for name in names}}
            yield tree_entry(tree, split, _raw(job), outcome)


def kept_tree(store: Store, key: str) -> Tree | None:
    """The tree that a run left in a store, where it did."""
    packed = store.predictions(key) if store.exists else None
    parts = tree_parts(packed) if packed else None
    numbers = packed is not None and (kept := unpack(packed)) is not None and kept.of_numbers
    return (RegressionTree if numbers else Tree)(**parts) if parts else None


def _raw(job: Job) -> pd.DataFrame | None:
    """The raw training rows of a job; ``None`` where a plug-in has no table."""
    rows = load_split(job.dataset, job.protocol, job.trial).rows
    table = registry.load_dataset(job.dataset)
    return None if rows is None or table is None else table.X.iloc[rows.train]


def draw_trees(folder: Path, jobs: Iterable[Job], store: Store) -> None:
    """The tree of each learner in its first job that ended well, as SVG, PDF and PNG."""
    from experiments.analysis import drawing
    from experiments.output import figures
    from gradtree.units.conditions import NOTHING
    from gradtree.views.plot import drawing_inches, plot_tree

    datasets, drawn = store.facts("dataset"), set[str]()
    for job in jobs:
        outcome = None if job.method in drawn else store.run(job.key)
        tree = kept_tree(store, job.key)
        if outcome is None or outcome["status"] != "ok" or tree is None:
            continue
        drawn.add(job.method)
        split, raw = load_split(job.dataset, job.protocol, job.trial), _raw(job)
        shown = tree if raw is None else in_raw_units(tree, split.preprocessing, raw)
        shown = replace(shown, n_node_samples=tree.n_node_samples)  # of training, as coded there
        width, height = drawing_inches(shown, DRAWN_DEPTH)
        name = registry.learner(job.method).name
        with drawing.look():
            figure = drawing.canvas(max(width, drawing.PAGE_WIDTH), height + 0.8)
            axes = figure.add_subplot()
            labels: dict[str, Any] = {
                "class_names": split.class_names or None,
                "max_depth": DRAWN_DEPTH,
            }
            names = split.feature_names if raw is None else None
            plot_tree(shown, feature_names=names, ax=axes, **labels)
            axes.set_title(f"{name}, trial {job.trial}, {main_score(outcome)}")
            note = codes_note(datasets.get(job.dataset, {}), job.protocol)
            figure.supxlabel(note.replace(NO_NEW_ROW, NOTHING), fontsize=7, wrap=True)
        figures.save(figure, folder / job.method)
