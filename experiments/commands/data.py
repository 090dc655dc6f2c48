"""``data``: fetch and verify the datasets, and say how to get those that are missing."""

import argparse
import warnings
from pathlib import Path

import datasets
from datasets import SOURCES, DatasetUnavailable, DataWarning, paper_datasets
from experiments.commands import arguments
from experiments.commands.arguments import option, verb
from experiments.errors import DONE, WORK_LEFT, UserError
from experiments.text import say


@verb(
    "data",
    option("datasets", "names or slugs (default: the paper's 36)", metavar="DATASET", nargs="*"),
    option("--mirror", "folder of original files (default: $GRADTREE_DATA)", Path, "FOLDER"),
    option("--cache", "where to keep downloaded data", Path, "FOLDER"),
    option(
        "--source", "only of this kind (repeatable)", metavar=None, action="append", choices=SOURCES
    ),
)
def run(args: argparse.Namespace) -> int:
    """Fetch and verify the datasets.

    Load each dataset from the first source that has it, verify it, keep a copy in the cache, and
    say how to get those that are missing. Exit status: 0 all are available, 3 some are not.
    """
    slugs = dict.fromkeys(arguments.datasets(args.datasets) or paper_datasets())
    if args.mirror is not None and not args.mirror.is_dir():
        raise UserError(f"--mirror: there is no folder {args.mirror}")
    there, told = 0, []
    for slug in slugs:
        facts = datasets.record(slug)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DataWarning)
            try:
                where = {"cache": args.cache, "sources": args.source}
                found = datasets.load_dataset(slug, args.mirror, **where)
                outcome = f"verified  {found.source}"
                there += 1
                notes = [str(one.message) for one in caught if one.category is DataWarning]
                told += [f"Note: {note}" for note in dict.fromkeys(notes)]
            except DatasetUnavailable as problem:
                outcome = "missing   none"
                told.append(f"{facts.name} is missing: {problem.remedy}.")
                told += [f"  tried {reason}" for reason in problem.failures]
        shape = f"{facts.n_rows:>6} rows {facts.n_features:>3} features"
        task = f"{facts.n_classes:>2} classes" if facts.classes else facts.task
        say(f"{facts.name:<24} {shape} {task:<10}  {outcome}")
    say("\n".join([*told, f"{there} of {len(slugs)} datasets are available and verified."]))
    if there < len(slugs):
        say("Everything else works without the missing ones.")
    return DONE if there == len(slugs) else WORK_LEFT
