"""``status``: how far a store has come with the jobs of a selection."""

from __future__ import annotations

import argparse
from collections import Counter

from experiments.commands import arguments, selection
from experiments.core.checks import EXIT_DONE, EXIT_INCOMPLETE


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "status",
        help="count the jobs that are done, per experiment and method",
        description=(
            "Count the selected jobs by their status in a store. "
            "Exit status: 0 all have ended, 3 some are still to be run."
        ),
    )
    arguments.add_selection(parser)
    arguments.add_store(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.core.planned import superseded
    from experiments.core.record import STATUSES
    from experiments.core.store import Store, resolve
    from experiments.core.text import table
    from experiments.runner.profiles import every_use

    arguments.require_store(args.store)
    selection.selected(args)
    store = Store(args.store)
    jobs = every_use(selection.profile_of(args), selection.filters_of(args))
    contents = store.contents()
    records = resolve(contents.history)
    tally: dict[tuple[str, str], Counter[str]] = {}
    for job in jobs:
        row = tally.setdefault((f"{job.protocol}/{job.experiment}", job.method), Counter())
        record = records.get(job.key)
        row["not run" if record is None else record.status] += 1
    header = ["experiment", "method", "jobs", *STATUSES, "not run"]
    rows = [
        [experiment, method, f"{sum(row.values()):,}"]
        + [f"{row[name]:,}" if row[name] else "·" for name in header[3:]]
        for (experiment, method), row in tally.items()
    ]
    print(table(header, rows))
    distinct = {job.key for job in jobs}
    left = len(distinct - records.keys())
    shared = f" ({len(jobs):,} uses in tables)" if len(jobs) > len(distinct) else ""
    print(f"\n{len(distinct):,} jobs{shared}, {left:,} not run yet.")
    print(f"{args.store}: {len(records):,} records.")
    arguments.tell_superseded(args.store, superseded(store.plan(), records.values()))
    if contents.torn:
        print(
            f"{contents.torn} incomplete line(s) of a killed run were ignored; those jobs run again"
        )
    arguments.tell_problems(contents.problems)
    return EXIT_INCOMPLETE if left else EXIT_DONE
