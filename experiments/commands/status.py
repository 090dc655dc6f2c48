"""``status``: how far a store has come with the jobs of a selection."""

from __future__ import annotations

import argparse
from collections import Counter

from experiments.commands import arguments
from experiments.errors import DONE, WORK_LEFT


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
    from experiments.runner.experiments import check_selected, jobs_in
    from experiments.runs import archive
    from experiments.runs.schema import STATUSES
    from experiments.runs.store import Store
    from experiments.text import table

    arguments.require_store(args.store)
    profile, chosen = arguments.selected(args)
    jobs = jobs_in(profile, chosen)
    check_selected(profile, chosen, jobs)
    if Store(args.store).exists:
        ended = {key: one["status"] for key, one in Store(args.store).statuses().items()}
    else:
        frame = archive.read_runs(args.store, ["key", "status"])
        ended = dict(zip(frame["key"], frame["status"], strict=True))
    tally: dict[tuple[str, str], Counter[str]] = {}
    for job in jobs:
        row = tally.setdefault((f"{job.protocol}/{job.experiment}", job.method), Counter())
        row[ended.get(job.key, "not run")] += 1
    header = ["experiment", "method", "jobs", *STATUSES, "not run"]
    rows = [
        [experiment, method, f"{row.total():,}"]
        + [f"{row[name]:,}" if row[name] else "·" for name in header[3:]]
        for (experiment, method), row in tally.items()
    ]
    print(table(header, rows))
    distinct = {job.key for job in jobs}
    left = len(distinct - ended.keys())
    shared = f" ({len(jobs):,} uses in tables)" if len(jobs) > len(distinct) else ""
    print(f"\n{len(distinct):,} jobs{shared}, {left:,} not run yet.")
    print(f"{args.store}: {len(ended):,} runs.")
    return WORK_LEFT if left else DONE
