"""``data``: fetch and verify the datasets, and say how to get those that are missing."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.commands import arguments
from experiments.errors import DONE, WORK_LEFT, UserError


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from datasets import SOURCES

    parser = verbs.add_parser(
        "data",
        help="fetch and verify the datasets",
        description=(
            "Load each dataset from the first source that has it, verify it, keep a copy in the "
            "cache, and say how to get those that are missing. Exit status: 0 all are available, "
            "3 some are not."
        ),
    )
    parser.add_argument(
        "datasets", nargs="*", metavar="DATASET", help="names or slugs (default: the paper's 36)"
    )
    text = "folder with original files at <slug>/<file> (default: the variable GRADTREE_DATA)"
    arguments.option(parser, "--mirror", text, Path, "FOLDER")
    arguments.option(parser, "--cache", "where to keep downloaded data", Path, "FOLDER")
    parser.add_argument(
        "--source",
        action="append",
        dest="sources",
        choices=SOURCES,
        help="use only sources of this kind (repeatable)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from datasets import paper_datasets, resolve
    from datasets.availability import availability
    from datasets.errors import RecordError, UnknownDatasetError
    from experiments.text import say

    try:
        slugs = [resolve(name) for name in args.datasets] or list(paper_datasets())
    except (UnknownDatasetError, RecordError) as problem:
        raise UserError(str(problem)) from None
    if args.mirror is not None and not args.mirror.is_dir():
        raise UserError(f"--mirror: there is no folder {args.mirror}")
    there, told = 0, []
    slugs = list(dict.fromkeys(slugs))
    for slug in slugs:
        found = availability(slug, args.mirror, args.cache, args.sources)
        facts, state = found.record, "verified" if found.verified else "missing"
        shape = (
            f"{facts.n_rows:>6} rows {facts.n_features:>3} features {facts.n_classes:>2} classes"
        )
        say(f"{facts.name:<24} {shape}  {state:<9} {found.source or 'none'}")
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
