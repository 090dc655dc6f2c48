"""``data``: fetch and verify the datasets, and say how to get those that are missing."""

import argparse
from pathlib import Path

from datasets import SOURCES, paper_datasets
from datasets.loading import availability
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
        found = availability(slug, args.mirror, args.cache, args.source)
        facts, state = found.record, "verified" if found.verified else "missing"
        shape = f"{facts.n_rows:>6} rows {facts.n_features:>3} features"
        task = f"{facts.n_classes:>2} classes" if facts.classes else facts.task
        say(f"{facts.name:<24} {shape} {task:<10}  {state:<9} {found.source or 'none'}")
        there += found.verified
        if found.verified:
            told += [f"Note: {reason}" for reason in found.reasons]
        else:
            told.append(f"{facts.name} is missing: {found.remedy}.")
            told += [f"  tried {reason}" for reason in found.reasons]
    say("\n".join([*told, f"{there} of {len(slugs)} datasets are available and verified."]))
    if there < len(slugs):
        say("Everything else works without the missing ones.")
    return DONE if there == len(slugs) else WORK_LEFT
