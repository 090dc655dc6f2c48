"""``status``: how far a store has come with the jobs of a selection."""

from __future__ import annotations

import argparse
from collections import Counter

from experiments.commands import arguments


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "status",
        help="how many jobs are done, per experiment and learner",
        description=(
            "Count the jobs of a selection by how they stand in a store. "
            "Exit status: 0 all have ended, 3 some are still to be run."
        ),
    )
    arguments.add_selection(parser)
    arguments.add_store(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.core.record import STATUSES
    from experiments.core.store import Store
    from experiments.core.text import table
    from experiments.runner.profiles import every_use

    store = Store(args.store)
    jobs = every_use(arguments.profile_of(args), arguments.filters_of(args))
    records = store.latest()
    tally: dict[tuple[str, str], Counter[str]] = {}
    for job in jobs:
        row = tally.setdefault((f"{job.protocol}/{job.experiment}", job.method), Counter())
        record = records.get(job.key)
        row["not run" if record is None else record.status] += 1
    header = ["experiment", "learner", "jobs", *STATUSES, "not run"]
    rows = [
        [experiment, method, f"{sum(row.values()):,}"]
        + [f"{row[name]:,}" if row[name] else "·" for name in header[3:]]
        for (experiment, method), row in tally.items()
    ]
    print(table(header, rows))
    total: Counter[str] = sum(tally.values(), Counter())
    print(f"\n{args.store}: {len(records):,} records; {total['not run']:,} jobs not run yet")
    if torn := store.torn():
        print(f"{torn} torn line(s) left by a kill were ignored; their jobs will run again")
    return 3 if total["not run"] else 0
