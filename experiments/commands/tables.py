"""``tables``: every table of the paper from run records, as CSV and LaTeX."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.commands.arguments import store_folder

REPOSITORY = Path(__file__).resolve().parents[2]
COMMITTED = REPOSITORY / "results" / "records"


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "tables",
        help="write all tables from run records",
        description=(
            "Write the paper's tables from run records: CSV at full precision with the paper's "
            "figures beside, booktabs LaTeX (all.tex sets them all), macros for single numbers, "
            "statistics over datasets, and the comparison of the protocols. Needs no data and "
            "no learner; what has not been run is shown as a gap."
        ),
    )
    add_store(parser)
    parser.add_argument(
        "--output",
        type=Path,
        default=REPOSITORY / "results" / "tables",
        metavar="FOLDER",
        help="where to write (default: results/tables)",
    )
    parser.set_defaults(run=run)


def add_store(parser: argparse.ArgumentParser) -> None:
    """The options that say which records are meant, shared with ``verify``."""
    parser.add_argument(
        "--store",
        type=store_folder,
        default=COMMITTED,
        metavar="FOLDER",
        help="folder of run records (default: the committed ones, results/records; "
        "runs of your own are in .runs)",
    )
    parser.add_argument(
        "--params",
        choices=("published", "ours"),
        help="hyperparameters of the tuned experiments: the paper's (default) or those our "
        "search found",
    )


def run(args: argparse.Namespace) -> int:
    from experiments.analysis.findings import findings_in
    from experiments.core.files import write_files
    from experiments.render.files import files_of

    found = findings_in(args.store, args.params)
    files = files_of(found)
    write_files(args.output, files)
    runs = sum(len(attempts) for attempts in found.results.attempts.values())
    made = sum(
        attempt.record is not None
        for attempts in found.results.attempts.values()
        for attempt in attempts
    )
    print(f"{args.output}: {len(files)} files from {made:,} of {runs:,} runs")
    return 0
