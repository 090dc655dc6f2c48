"""``list``, ``plan``, ``failures``: what there is, how far a run has come and what is left to do,
what failed.
"""

import argparse
import textwrap
from functools import cache
from typing import Any

from experiments.analysis.runs import Source
from experiments.commands import arguments
from experiments.commands.arguments import SELECTION, STORE, flag, group, option, verb, words
from experiments.commands.run_search import asked, plan_of, tell_plan
from experiments.errors import DONE, FAILED, check_names
from experiments.runner import experiments as catalogue
from experiments.runner import registry
from experiments.runner.candidates import search_seconds
from experiments.runner.experiments import Profile, jobs_in
from experiments.runner.plan import Plan, make_plan, together
from experiments.runs.schema import Limits
from experiments.text import duration

KINDS = ("profiles", "experiments", "protocols", "learners", "datasets", "metrics")
FAILURES = ("timeout", "memory", "crash", "error")


@verb(
    "list",
    option("kind", "only these (default: all)", metavar=None, nargs="?", choices=KINDS),
    flag("--cost", "profiles with their jobs, core time and time on two idle cores, as recorded"),
)
def list_all(args: argparse.Namespace) -> int:
    """List profiles, experiments, protocols, learners, datasets and metrics."""
    for kind in [args.kind] if args.kind else KINDS:
        costs = kind == "profiles" and args.cost
        known = registry.entries(kind.removesuffix("s")).items()
        lines = {slug: _cost(each) if costs else _about(kind, each) for slug, each in known}
        width = max(map(len, lines))
        print(f"{kind} (core time, on two idle cores):" if costs else f"{kind}:")
        print("".join(f"  {slug.ljust(width)}  {about}\n" for slug, about in lines.items()))
    return DONE


def _about(kind: str, each: Any) -> str:
    plain = {"metrics": "meaning", "protocols": "summary", "profiles": "about"}
    if kind in (*plain, "experiments"):
        return str(getattr(each, plain.get(kind, "about")))
    beyond = "" if each.in_paper else " (beyond the paper)"
    if kind == "learners":
        return f"{each.name}{beyond}"
    task = f"{len(each.class_counts)} classes" if each.class_counts else each.task
    return f"{each.name}: {each.n_rows:,} rows, {each.n_features} features, {task}{beyond}"


def cost(profile: Profile) -> tuple[int, float, float]:
    """Jobs of a profile; by the committed runs, its seconds of core time and on two idle cores."""
    searches = catalogue.searches_in(profile)
    plan = together([_plan_of(leaf.slug) for leaf in profile.leaves()])
    searching = sum(search_seconds(*each) for each in searches)
    count = len(plan.jobs) + sum(trials for _, trials in searches)
    return count, plan.core_seconds + searching, plan.wall_seconds(2) + searching / 2


@cache
def _plan_of(leaf: str) -> Plan:
    return make_plan(jobs_in(catalogue.profile_of(leaf)), {}, Limits())


def _cost(profile: Profile) -> str:
    jobs, core, wall = cost(profile)
    return f"{jobs:>7,} jobs  {duration(core):>12}  {duration(wall):>12}  {profile.about}"


@verb("plan", SELECTION, STORE, group("how", *arguments.LIMITS))
def plan(args: argparse.Namespace) -> int:
    """Show how many jobs there are, how many are done and how long the rest takes.

    Count the selected jobs per learner without running any, and estimate their core time by the
    committed runs of the same learner on the same dataset.
    """
    profile, _, parts, searches = asked(args)
    tell_plan(args, profile, plan_of(args, parts), searches)
    return DONE


@verb(
    "failures",
    STORE,
    option("--status", f"default: {','.join(FAILURES)}; or skipped", words, "A,B", FAILURES),
    flag("--log", "also print the traceback and the end of the log"),
)
def failures(args: argparse.Namespace) -> int:
    """List failed jobs with their reasons.

    List jobs that timed out, ran out of memory, crashed or raised an error, grouped by reason. Exit
    status: 0 there are none, 1 there are some.
    """
    check_names("status", args.status, (*FAILURES, "skipped"))
    runs = Source(args.store).runs
    runs = runs[runs["status"].isin(args.status)]
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
                print(textwrap.indent(first[name].rstrip(), "    "))
    print("\n`run` tries errors and crashes again, others with higher limits or --refit.")
    return FAILED
