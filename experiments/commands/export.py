"""``export``: the runs for pandas, R, DuckDB or a spreadsheet, or as the archive for git."""

from __future__ import annotations

import argparse
import tempfile
from contextlib import closing
from pathlib import Path

from experiments.commands import arguments
from experiments.commands.merge import merge, tell
from experiments.errors import DONE, FAILED, UserError


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "export",
        help="write the runs as Parquet or CSV",
        description=(
            "Write one row per experiment and run, with every column of the table of runs, as "
            "Parquet or CSV. With --results instead, add the runs of the store to the committed "
            "archive in results/runs: nothing is deleted, conflicts are listed, and what was "
            "committed stays. Exit status: 0 done, 1 there are conflicts."
        ),
    )
    arguments.add_store(parser)
    text = "such as runs.parquet or runs.csv"
    parser.add_argument("output", nargs="?", type=Path, metavar="FILE", help=text)
    text = "add to this archive (default: results/runs)"
    parser.add_argument(
        "--results", type=Path, nargs="?", const=arguments.COMMITTED, metavar="ARCHIVE", help=text
    )
    text = "experiments whose predictions an archive keeps (default: tuned,default)"
    kept = ["tuned", "default"]
    arguments.option(parser, "--predictions", text, arguments.words, "A,B", kept)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.analysis.runs import load

    if args.results is not None:
        arguments.require_store(args.store)
        return write_archive(args.store, args.results, args.predictions)
    if args.output is None or args.output.suffix not in (".parquet", ".csv"):
        raise UserError("name a file to write, such as runs.parquet or runs.csv")
    folder = args.store
    if folder == arguments.LOCAL and not folder.is_dir():
        folder = arguments.COMMITTED
    frame = load(folder).frame
    args.output.parent.mkdir(parents=True, exist_ok=True)
    if args.output.suffix == ".csv":
        frame.to_csv(args.output, index=False)
    else:
        frame.to_parquet(args.output, index=False)
    ran = int((frame["status"] != "").sum())
    print(f"{args.output}: {len(frame):,} rows, {ran:,} of them runs of {folder}")
    return DONE


def write_archive(store: Path, archive_folder: Path, experiments: list[str]) -> int:
    """Add the runs of a store to an archive, through a store that is made for it."""
    from experiments.runs import archive, predictions
    from experiments.runs.store import Store

    with tempfile.TemporaryDirectory() as folder, closing(Store(folder)) as both:
        if (archive_folder / archive.PLAN).is_file():
            merge(archive_folder, both)
        added, problems = merge(store, both)
        runs, plan = both.frame("runs"), both.frame("planned")
        facts = {kind: both.facts(kind) for kind in archive.KINDS}
        archive.write(archive_folder, runs, plan, facts)
        wanted = set(plan.loc[plan["experiment"].isin(experiments), "key"])
        wanted |= set(predictions.read(archive_folder))
        kept = runs[runs["key"].isin(wanted)]
        predictions.write(archive_folder, predictions.of_store(both, kept))
    print(f"{archive_folder}: {added.new:,} new runs, {added.known:,} known, {len(runs):,} in all")
    tell("no runs and left out", problems)
    tell("conflicts; what was committed stays", added.conflicts)
    return FAILED if added.conflicts else DONE
