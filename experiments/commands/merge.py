"""``merge``: bring the records of other stores into one."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.commands.arguments import store_folder


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "merge",
        help="bring the records of other stores into one",
        description=(
            "Copy records from stores of other machines, shards or runs. Where two stores know "
            "the same job, a success counts before a failure and a later record before an "
            "earlier one. Merging again changes nothing."
        ),
    )
    parser.add_argument("sources", nargs="+", type=store_folder, metavar="STORE", help="to be read")
    parser.add_argument(
        "--into",
        type=Path,
        default=Path(".runs"),
        metavar="STORE",
        help="to be added to (default: %(default)s)",
    )
    parser.add_argument(
        "--compact",
        action="store_true",
        help="then rewrite the store without superseded records, sorted, ready to be committed",
    )
    parser.add_argument(
        "--no-predictions", action="store_true", help="leave test predictions where they are"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.core.store import Store, merge

    target = Store(args.into)
    for folder in args.sources:
        if not folder.is_dir():
            raise SystemExit(f"{folder} is not a folder of run records")
        tally = merge(Store(folder), target, with_predictions=not args.no_predictions)
        print(f"{folder}: {tally.new:,} new, {tally.better:,} better, {tally.known:,} known")
    if args.compact:
        target.compact()
    print(f"{args.into}: {len(target.records()):,} records")
    return 0
