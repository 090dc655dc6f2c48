"""``verify``: is it the paper's? Verdicts, claims, and what is worse than accepted."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.commands.tables import COMMITTED, add_store


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "verify",
        help="compare run records with the paper, cell by cell and claim by claim",
        description=(
            "Print how many cells of each table agree with the paper and whether its claims hold, "
            "and compare that with the accepted verdicts in results/. Exit status: 0 nothing is "
            "worse than accepted, 1 something is. In a store of your own, what has not been run "
            "completely is passed over; among the committed records it counts as lost."
        ),
    )
    add_store(parser)
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="also write verdicts.csv and claims.csv there",
    )
    parser.add_argument(
        "--update",
        action="store_true",
        help="accept what was found: write results/verdicts.csv and results/claims.csv",
    )
    parser.add_argument(
        "--claims", action="store_true", help="print every claim with its numbers, not only counts"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.analysis import accepted
    from experiments.analysis.findings import findings_in
    from experiments.core.files import write_files
    from experiments.render import csvfiles
    from experiments.render.terminal import claim_lines, verdict_lines

    found = findings_in(args.store, args.params)
    print("\n".join(verdict_lines(found.verdicts)))
    print("\n".join(["", *claim_lines(found.claims, args.claims)]))
    files = csvfiles.verdict_files(found.verdicts, found.claims)
    if args.output is not None:
        write_files(args.output, files)
    if args.update:
        write_files(accepted.FOLDER, files)
        print(f"\naccepted in {accepted.FOLDER}")
        return 0
    before = accepted.read_accepted(accepted.FOLDER)
    if before is None:
        print("\nNo verdicts have been accepted yet; accept these with --update.")
        return 0
    whole = args.store.resolve() == COMMITTED.resolve()
    worse = accepted.regressions(before, found.verdicts, found.claims, whole)
    print(f"\nWorse than accepted: {len(worse) or 'nothing'}")
    for line in worse:
        print(f"  {line}")
    return 1 if worse else 0
