"""``trees``: write the trees that the report draws, in the units of the raw data, as JSON. This
needs the data, and learners where a store keeps no trees: only fitted preprocessing knows the
units.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from datasets.split import Split
from experiments.analysis.runs import load
from experiments.commands import arguments
from experiments.commands.arguments import option, verb, words
from experiments.errors import DONE, NothingToDoError, check_names
from experiments.output import files
from experiments.runner import registry
from experiments.runner.experiments import Setting, jobs_of
from experiments.runner.run_job import load_split, timed_fit
from experiments.runs.archive import tree_parts, unpack
from experiments.runs.schema import Job
from experiments.runs.store import Store
from experiments.text import NO_NEW_ROW, main_score, say
from gradtree.columns.coding import Column, coded_matrix, learn_columns
from gradtree.columns.frames import frame_columns
from gradtree.trees.regression_tree import RegressionTree
from gradtree.trees.tree import Tree
from gradtree.units.conditions import NOTHING
from gradtree.units.encoding import EncodedColumn, between, table_tree
from gradtree.views.rules import describe

METHODS = ("gradtree", "cart", "dl85", "genetictree")
EXPERIMENT, PROTOCOL, TRIAL = "tuned", "paper", 0
DRAWN_DEPTH = 4


@verb("trees", option("--dataset", "default: all", words, "A,B"), arguments.SOURCE)
def run(args: argparse.Namespace) -> int:
    """Write the trees that the report draws.

    Write one file per dataset with the trees of the first tuned trial under protocol paper, with
    splits in the units of the raw data, for the runs of a store. Trees that the store did not keep
    are fitted again. Needs the data.
    """
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
        entries = list(tree_entries(dataset, own, Store(runs.store), args.params))
        path = files.write_trees(arguments.output_folder(args) / files.TREES, dataset, entries)
        say(f"{path}: {', '.join(entry['method'] for entry in entries) or 'no tree'}")
    return DONE


def tree_entries(
    dataset: str, rows: pd.DataFrame, store: Store, setting: Setting | None = None
) -> Iterator[dict[str, Any]]:
    """Trees of a dataset's runs (indexed by key), kept by the store or fitted again."""
    same = (EXPERIMENT, PROTOCOL, [dataset], METHODS, [TRIAL], setting, store.folder)
    for job in (job for job in jobs_of(*same) if job.key in rows.index):
        split, learner = load_split(dataset, PROTOCOL, TRIAL), registry.learner(job.method)
        tree = kept_tree(store, job.key) or timed_fit(learner, split, job)[0].tree
        if tree is not None:
            yield tree_entry(tree, split, _raw(job), {**rows.loc[job.key], **vars(job)})


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
            axes, names = figure.add_subplot(), split.feature_names if raw is None else None
            how: dict[str, Any] = {"class_names": split.class_names or None, "feature_names": names}
            plot_tree(shown, **how, max_depth=DRAWN_DEPTH, ax=axes)
            axes.set_title(f"{name}, trial {job.trial}, {main_score(outcome)}")
            note = files.codes_note(datasets.get(job.dataset, {}), job.protocol)
            figure.supxlabel(note.replace(NO_NEW_ROW, NOTHING), fontsize=7, wrap=True)
        files.save(figure, folder / job.method)


# Raw units: which raw column a number depends on is read off raw rows, as it changes when these
# exchange their values of that column.


def tree_entry(
    tree: Tree, split: Split, raw: pd.DataFrame | None, run: Mapping[str, Any]
) -> dict[str, Any]:
    """An entry of a file of trees: its splits in words, in raw units or the numbers of training."""

    def words(condition: Any) -> str:
        return NO_NEW_ROW if condition.brief == NOTHING else condition.brief.replace("<=", "≤")

    shown = tree if raw is None else in_raw_units(tree, split.preprocessing, raw)
    splits = describe(shown, split.feature_names if raw is None else None)
    names = ("method", "experiment", "protocol", "trial", "seed", "test_f1")
    return {
        **{name: run[name] for name in names},
        "class_names": list(split.class_names),
        "tree": tree.to_dict(),
        "splits": {
            str(node): [sides.column, words(sides.left), words(sides.right)]
            for node, sides in sorted(splits.items())
        },
    }


def in_raw_units(tree: Tree, preprocessing: Any, raw: pd.DataFrame) -> Tree:
    """The same tree over the columns of ``raw``, best the rows of training, on which both agree.

    Every column that the fitted ``preprocessing`` makes depends on one raw column only, and rises
    with it if that holds numbers. Borders have as few digits as tell the rows apart.
    """

    def transformed(rows: pd.DataFrame) -> NDArray[np.float32]:
        return np.asarray(preprocessing.transform(rows)).astype(np.float32)

    rows = frame_columns(raw)
    columns = learn_columns(rows, np.arange(len(raw)), [False] * len(rows))
    coded, matrix = coded_matrix(rows, columns), transformed(raw)
    order = np.random.default_rng(0).permutation(len(raw))
    changes = np.zeros((raw.shape[1], matrix.shape[1]), dtype=bool)
    for place, name in enumerate(raw.columns):
        exchanged = raw.assign(**{name: raw[name].iloc[order].set_axis(raw.index)})
        changes[place] = (transformed(exchanged) != matrix).any(axis=0)
    if (changes.sum(axis=0) > 1).any():
        raise ValueError("the preprocessing mixes raw columns, so its splits have no raw units")
    inner = [
        _observed(source, columns[source], coded[:, source], matrix[:, place])
        for place, source in enumerate(changes.argmax(axis=0).tolist())
    ]
    return table_tree(tree, inner, columns, coded, simplify=False)[0]


def _observed(
    source: int, column: Column, values: NDArray[Any], numbers: NDArray[np.float32]
) -> EncodedColumn:
    """What the preprocessing makes of the values of one column."""
    gaps = np.isnan(values)
    missing = float(numbers[gaps][0]) if gaps.any() else float(np.median(numbers))
    points, first = np.unique(values[~gaps], return_index=True)
    scores = numbers[~gaps][first]
    if column.kind == "category":
        every = np.full(len(column.categories), missing, dtype=np.float32)
        every[points.astype(np.intp)] = scores
        return EncodedColumn(source, None, every, missing)
    if (np.diff(scores) < 0).any():
        raise ValueError(f"the preprocessing does not keep the order of {column.name!r}")
    if not len(points):
        points, scores = np.zeros(1), np.array([missing], dtype=np.float32)
    return EncodedColumn(source, between(points), scores, missing)
