"""``plan``, ``status``, ``failures``: what a run would do, how far one has come, what failed."""

from __future__ import annotations

import argparse
from collections import Counter

from experiments.commands import arguments
from experiments.commands.arguments import SELECTION, STORE, flag, group, option, verb, words
from experiments.commands.run import asked, plan_of, tell_plan
from experiments.errors import DONE, FAILED, WORK_LEFT, check_names
from experiments.output.checks import runs_of
from experiments.runner.experiments import check_selected, jobs_in
from experiments.runs.schema import STATUSES
from experiments.runs.store import Store
from experiments.text import program, table

FAILURES = ("timeout", "memory", "crash", "error")


@verb("plan", SELECTION, STORE, group("how", *arguments.LIMITS))
def plan(args: argparse.Namespace) -> int:
    """Show how many jobs there are, how many are done and how long the rest takes.

    Count the selected jobs per learner without running any, and estimate their core time by the
    committed runs of the same learner on the same dataset.
    """
    profile, _, parts, searches = asked(args)
    tell_plan(args, profile, plan_of(args, profile, parts), searches)
    return DONE


@verb("status", SELECTION, STORE)
def status(args: argparse.Namespace) -> int:
    """Count the jobs that are done, per experiment and method.

    Count the selected jobs by their status in a store. Exit status: 0 all have ended, 3 some are
    still to be run.
    """
    arguments.require_store(args.store)
    profile, chosen = arguments.selected(args)
    jobs = jobs_in(profile, chosen)
    check_selected(profile, chosen, jobs)
    ended = runs_of(args.store).set_index("key")["status"].to_dict()
    tally: dict[tuple[str, str], Counter[str]] = {}
    for job in jobs:
        row = tally.setdefault((f"{job.protocol}/{job.experiment}", job.method), Counter())
        row[ended.get(job.key, "not run")] += 1
    header = ["experiment", "method", "jobs", *STATUSES, "not run"]
    rows = [
        [
            *place,
            f"{row.total():,}",
            *(f"{row[name]:,}" if row[name] else "·" for name in header[3:]),
        ]
        for place, row in tally.items()
    ]
    print(table(header, rows))
    distinct = {job.key for job in jobs}
    left = len(distinct - ended.keys())
    shared = f" ({len(jobs):,} uses in tables)" if len(jobs) > len(distinct) else ""
    print(f"\n{len(distinct):,} jobs{shared}, {left:,} not run yet.")
    print(f"{args.store}: {len(ended):,} runs.")
    return WORK_LEFT if left else DONE


@verb(
    "failures",
    STORE,
    option("--dataset", "only these slugs", words, "A,B"),
    option("--method", "only these methods", words, "A,B"),
    option("--status", f"only {', '.join(FAILURES)} (default: these), skipped", words, "A,B"),
    flag("--log", "also print the traceback and the end of the log"),
)
def failures(args: argparse.Namespace) -> int:
    """List failed jobs with their reasons.

    List jobs that timed out, ran out of memory, crashed or raised an error, grouped by reason. Exit
    status: 0 there are none, 1 there are some.
    """
    arguments.require_store(args.store)
    runs = runs_of(args.store)
    check_names("status", args.status, (*FAILURES, "skipped"))
    for column in ("dataset", "method", "status"):
        wanted = getattr(args, column)
        if column != "status":
            check_names(column, wanted, runs[column].unique())
        elif wanted is None:
            wanted = FAILURES
        runs = runs if wanted is None else runs[runs[column].isin(wanted)]
    if runs.empty:
        print(f"No failures in {args.store}.")
        return DONE
    place = ["status", "protocol", "dataset", "method", "reason"]
    for (ended, protocol, dataset, method, reason), some in runs.groupby(place):
        trials = ", ".join(map(str, sorted(some["trial"].unique())))
        print(f"{ended:8} {protocol} {dataset} {method}, trial {trials}: {reason}")
        first = some.iloc[0]
        for name in ("traceback", "log_tail") if args.log else ():
            if first[name].strip():
                print(f"  {name.removesuffix('_tail')} of trial {first['trial']}:")
                print("".join(f"    {line}\n" for line in first[name].rstrip().splitlines()))
    found = ",".join(each for each in FAILURES if (runs["status"] == each).any())
    if found:
        learners = Store(args.store).facts("learner").values()
        plugged = sorted({str(one["file"]) for one in learners if "file" in one})
        with_plugins = "".join(f" --plugin {file}" for file in plugged)
        print(f"\nTry again: {program()} run --retry {found} --store {args.store}{with_plugins}")
    return FAILED
