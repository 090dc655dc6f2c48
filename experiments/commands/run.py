"""``run``: do the jobs that are not done yet."""

from __future__ import annotations

import argparse
import shlex
import sys

from experiments import options

EXIT_DONE, EXIT_FAILED, EXIT_INCOMPLETE = 0, 1, 3


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "run",
        help="do the jobs that are not done yet",
        description=(
            "Run jobs into a store. What is done is not done again; errors and crashes are tried "
            "again; jobs that exceeded their limits only with larger limits or --retry. "
            "Exit status: 0 all jobs concluded, 1 some failed (error or crash), 3 incomplete."
        ),
    )
    options.add_selection(parser)
    options.add_store(parser)
    options.add_how(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.display.plain import PlainDisplay
    from experiments.display.text import counts
    from experiments.executors.inline import InlineExecutor
    from experiments.session import run_session
    from experiments.store import Store
    from experiments.todo import to_do

    profile, jobs = options.selected(args)
    limits = options.limits_of(args, profile)
    store = Store(args.store)
    pending = to_do(jobs, store.latest(), limits)
    print(f"{len(jobs):,} jobs, {len(jobs) - len(pending):,} done before, {len(pending):,} to do")
    summary = run_session(pending, store, InlineExecutor(), [PlainDisplay(len(pending))])
    print(f"finished: {counts(summary.statuses)}; {summary.left:,} left")
    if summary.interrupted:
        print("resume with:", shlex.join(["python", "-m", "experiments", *sys.argv[1:]]))
        return EXIT_INCOMPLETE
    failed = summary.statuses["error"] + summary.statuses["crash"]
    return EXIT_FAILED if failed else EXIT_DONE
