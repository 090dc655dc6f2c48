"""``merge``: bring the records of other stores into one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.commands import arguments

if TYPE_CHECKING:
    from experiments.core.store import Store

CONFLICTS_SHOWN = 5


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "merge",
        help="copy the records of other stores into one",
        description=(
            "Copy records from the stores of other machines, shards or runs. If two stores have "
            "the same job, a success beats a failure and a later record beats an earlier one. If "
            "both succeeded with different scores, that is a conflict: it is listed, and the "
            "target keeps its own record. Merging again changes nothing. Exit status: 0 done, "
            "1 there are conflicts, 3 another process writes to the store."
        ),
    )
    parser.add_argument(
        "sources",
        nargs="*",
        type=arguments.store_folder,
        metavar="STORE",
        help="store to copy from; none is needed with --compact",
    )
    parser.add_argument(
        "--into",
        type=Path,
        default=Path(".runs"),
        metavar="STORE",
        help="store to copy to (default: %(default)s)",
    )
    parser.add_argument(
        "--compact",
        action="store_true",
        help="then rewrite the target sorted and without superseded records, ready to commit",
    )
    parser.add_argument(
        "--no-predictions", action="store_true", help="do not copy test predictions"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.core.checks import EXIT_DONE, EXIT_FAILED, UserError
    from experiments.core.files import locked
    from experiments.core.merging import compact
    from experiments.core.planned import superseded
    from experiments.core.store import Store

    for folder in args.sources:
        if not folder.is_dir():
            raise UserError(f"{folder} is not a folder of run records")
    if not args.sources and not args.compact:
        raise UserError("nothing to do: name the stores to copy from, or pass --compact")
    target, conflicts = Store(args.into), 0
    with locked(args.into):
        before = superseded(target.plan(), target.records())
        for folder in args.sources:
            conflicts += bring(Store(folder), target, not args.no_predictions)
        if args.compact:
            compact(target)
    records = target.records()
    print(f"{args.into}: {len(records):,} records")
    for why, some in superseded(target.plan(), records).items():
        if len(some) > len(before.get(why, ())):
            print(f"Now superseded: {len(some):,} records ({why}); no table uses them.")
    return EXIT_FAILED if conflicts else EXIT_DONE


def bring(source: Store, target: Store, with_predictions: bool) -> int:
    """Merge one store into another and say what came of it; how many conflicts there were."""
    from experiments.core.merging import merge
    from experiments.core.store import conflict_text

    merged = merge(source, target, with_predictions)
    print(f"{source.folder}: {merged.new:,} new, {merged.newer:,} newer, {merged.known:,} known")
    arguments.tell_problems(merged.problems)
    for ours, theirs in merged.conflicts[:CONFLICTS_SHOWN]:
        print(f"  conflict: {conflict_text(ours, theirs)}")
    if merged.conflicts:
        print(f"  {len(merged.conflicts):,} conflicts: what was there before is kept")
    return len(merged.conflicts)
