"""``verify``: is it the paper's? Verdicts, claims, and whether the records can be trusted."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.commands import arguments
from experiments.core.manifest import changes
from experiments.core.store import COMMITTED, Store

if TYPE_CHECKING:
    from experiments.analysis.findings import Findings


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "verify",
        help="compare run records with the paper and with the committed ones",
        description=(
            "Compare every cell with the paper's (exact, equivalent, undecided, better, worse), "
            "test each column over its datasets, and check the paper's claims. Then compare these "
            "verdicts with the accepted ones in results/. The committed records (the default) are "
            "checked against their hashes; a store of your own is compared with them fit by fit, "
            "so even a run of fewer than ten trials can be checked. Exit status: 0 nothing is "
            "amiss, 1 something is worse than accepted, differs from the committed records or was "
            "altered."
        ),
    )
    parser.add_argument(
        "--store",
        type=arguments.store_folder,
        default=COMMITTED,
        metavar="FOLDER",
        help="folder of run records (default: the committed ones; your own are in .runs)",
    )
    parser.add_argument(
        "--params",
        choices=("published", "ours"),
        help="hyperparameters of the tuned experiments: the paper's (default) or those found by "
        "our search",
    )
    parser.add_argument(
        "--deep", action="store_true", help="also recompute scores from stored predictions"
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="also write verdicts.csv and claims.csv there",
    )
    parser.add_argument(
        "--update",
        action="store_true",
        help="accept these verdicts: write results/verdicts.csv and results/claims.csv",
    )
    parser.add_argument(
        "--claims",
        action="store_true",
        help="print all claims with their numbers, not only those that fail",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.analysis import verifying
    from experiments.analysis.findings import findings_in
    from experiments.core.files import write_files
    from experiments.render import csvfiles
    from experiments.render.wording import claim_lines, verdict_lines

    arguments.require_store(args.store)
    committed = args.store.resolve() == COMMITTED.resolve()
    found = findings_in(args.store, args.params)
    print("\n".join(verdict_lines(found.verdicts)))
    print("\n".join(["", *claim_lines(found.claims, args.claims)]))
    print()
    amiss = records_amiss(args.store, found, args.deep, committed)
    if not committed:
        amiss += unlike_committed(Store(args.store))
    files = csvfiles.verdict_files(found.verdicts, found.claims)
    if args.output is not None:
        write_files(args.output, files)
    if args.update:
        write_files(verifying.FOLDER, files)
        print(f"\nAccepted in {verifying.FOLDER}.")
        return 1 if amiss else 0
    before = verifying.read_accepted(verifying.FOLDER)
    if before is None:
        print("\nNo verdicts have been accepted yet; accept these with --update.")
        return 1 if amiss else 0
    worse = verifying.regressions(before, found.verdicts, found.claims, committed)
    print(f"\nWorse than accepted: {len(worse) or 'nothing'}")
    for line in worse:
        print(f"  {line}")
    return 1 if worse or amiss else 0


def records_amiss(folder: Path, found: Findings, deep: bool, committed: bool) -> int:
    """Whether the records are whole and unaltered; how many things are not."""
    from experiments.analysis.verifying import recomputed
    from experiments.core.predictions import damaged

    store = Store(folder)
    arguments.tell_problems(found.problems)
    arguments.tell_superseded(folder, found.superseded)
    amiss = len(found.problems)
    differing = changes(folder)
    if differing is None and committed:
        print("Files that are not as committed: unknown, because hashes.csv is missing")
        amiss += 1
    if differing is not None:
        print(f"Files that are not as committed: {_listed(differing.altered)}")
        if committed:
            print(f"Files with lines that are not committed: {_listed(differing.added_to)}")
            amiss += len(differing.added_to)
    if deep:
        count, wrong = recomputed(folder, list(store.latest().values()))
        print(f"Scores recomputed from predictions: {count:,} records, {len(wrong)} differ")
        print("".join(f"  {line}\n" for line in wrong[:5]), end="")
        unreadable = damaged(folder)
        if unreadable:
            print(f"Predictions that cannot be read: {', '.join(unreadable[:5])}")
        amiss += len(wrong) + len(unreadable)
    return amiss


def _listed(names: list[str]) -> str:
    return f"{len(names)}: {', '.join(names[:5])}" if names else "none"


def unlike_committed(store: Store) -> int:
    """Compare a store with the committed records, fit by fit; how many differ."""
    from experiments.analysis.verifying import FIRST_SHOWN, compare_fits, environment_differences

    ours = Store(COMMITTED)
    repeats = compare_fits(store.latest(), ours.latest())
    if not repeats.compared:
        print("The committed records have none of your fits; there is nothing to compare.")
        return 0
    print(f"Trial by trial: {repeats.sentence}.")
    theirs, environments = store.environments(), ours.environments()
    for each in repeats.differences[:FIRST_SHOWN]:
        record = each.theirs
        where = f"{record.protocol} {record.dataset} {record.method} trial {record.trial}"
        scores = ", ".join(f"{name} {a} for our {b}" for name, (a, b) in each.fields.items())
        print(f"  {where}: {scores}")
        told = environment_differences(
            environments.get(each.ours.environment, {}), theirs.get(record.environment, {})
        )
        print(f"    made with {told or 'the same versions on the same kind of machine'}")
    if len(repeats.differences) > FIRST_SHOWN:
        print(f"  and {len(repeats.differences) - FIRST_SHOWN:,} more")
    return len(repeats.differences)
