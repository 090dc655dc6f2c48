"""``merge``: bring the records of other stores into one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.commands import arguments

if TYPE_CHECKING:
    from experiments.core.record import RunRecord

CONFLICTS_SHOWN = 5


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "merge",
        help="bring the records of other stores into one",
        description=(
            "Copy records from stores of other machines, shards or runs. Where two stores know "
            "the same job, a success counts before a failure and a later record before an "
            "earlier one; where both succeeded with different scores, that is a conflict, which is "
            "named and left as it was. Merging again changes nothing. Exit status: 0 done, 1 there "
            "are conflicts, 3 another process writes to the store."
        ),
    )
    parser.add_argument(
        "sources", nargs="+", type=arguments.store_folder, metavar="STORE", help="to be read"
    )
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
    from experiments.core.errors import EXIT_DONE, EXIT_FAILED, UserError
    from experiments.core.files import locked
    from experiments.core.store import Store, merge

    for folder in args.sources:
        if not folder.is_dir():
            raise UserError(f"{folder} is not a folder of run records")
    target, conflicts = Store(args.into), 0
    with locked(args.into):
        for folder in args.sources:
            merged = merge(Store(folder), target, with_predictions=not args.no_predictions)
            print(f"{folder}: {merged.new:,} new, {merged.newer:,} newer, {merged.known:,} known")
            arguments.tell_problems(merged.problems)
            conflicts += len(merged.conflicts)
            for ours, theirs in merged.conflicts[:CONFLICTS_SHOWN]:
                print(f"  conflict: {conflict(ours, theirs)}")
            if merged.conflicts:
                print(f"  {len(merged.conflicts):,} conflicts: what was there before is kept")
        if args.compact:
            target.compact()
    print(f"{args.into}: {len(target.records()):,} records")
    return EXIT_FAILED if conflicts else EXIT_DONE


def conflict(ours: RunRecord, theirs: RunRecord) -> str:
    """Where two records of one job disagree, for people."""
    from experiments.core.record import SCORES

    differing = [
        f"{name} {getattr(ours, name)} and {getattr(theirs, name)}"
        for name in SCORES
        if getattr(ours, name) != getattr(theirs, name)
    ]
    where = f"{ours.protocol} {ours.dataset} {ours.method} trial {ours.trial}"
    return f"{where} (job {ours.key}): {', '.join(differing)}"
