"""``list``: what there is, a line each."""

from __future__ import annotations

import argparse
from functools import cache
from typing import Any

from experiments.commands.arguments import flag, option, verb
from experiments.errors import DONE
from experiments.runner import registry
from experiments.runner.experiments import Profile, jobs_in, profile_of, searches_in, unique
from experiments.runner.plan import make_plan, search_seconds
from experiments.runs.job import Job, Limits
from experiments.runs.schema import BY_NAME
from experiments.text import duration

KINDS = ("profiles", "experiments", "protocols", "learners", "datasets", "metrics")


@verb(
    "list",
    option("kind", "only these (default: all)", metavar=None, nargs="?", choices=KINDS),
    flag("--cost", "profiles with their jobs, core time and time on two idle cores, as recorded"),
)
def run(args: argparse.Namespace) -> int:
    """List profiles, experiments, protocols, learners, datasets and metrics, with those of
    plug-ins.
    """
    for kind in [args.kind] if args.kind else KINDS:
        costs = kind == "profiles" and args.cost
        lines = {
            slug: _cost(each) if costs else _about(kind, slug, each)
            for slug, each in registry.entries(kind.removesuffix("s")).items()
        }
        width = max(map(len, lines))
        print(f"{kind} (core time, on two idle cores):" if costs else f"{kind}:")
        print("".join(f"  {slug.ljust(width)}  {about}\n" for slug, about in lines.items()))
    return DONE


def _about(kind: str, slug: str, each: Any) -> str:
    """One line on a thing."""
    if kind == "metrics":
        return BY_NAME[slug].meaning if slug in BY_NAME else "of a plug-in"
    if kind in ("profiles", "experiments", "protocols"):
        return str(each.summary if kind == "protocols" else each.about)
    beyond = "" if each.in_paper else " (beyond the paper)"
    if kind == "learners":
        return f"{each.name}{beyond}"
    task = f"{len(each.class_counts)} classes" if each.class_counts else each.task
    return f"{each.name}: {each.n_rows:,} rows, {each.n_features} features, {task}{beyond}"


def cost(profile: Profile) -> tuple[int, float, float]:
    """Jobs of a profile, and by the committed runs its core seconds and those on two idle cores."""
    jobs = unique(job for leaf in profile.leaves() for job in _jobs_in(leaf.slug))
    searches = searches_in(profile)
    plan = make_plan(jobs, {}, Limits())
    searching = sum(search_seconds(*each) for each in searches)
    count = len(jobs) + sum(trials for _, trials in searches)
    return count, plan.core_seconds + searching, plan.wall_seconds(2) + searching / 2


@cache
def _jobs_in(leaf: str) -> list[Job]:
    return jobs_in(profile_of(leaf))


def _cost(profile: Profile) -> str:
    jobs, core, wall = cost(profile)
    return f"{jobs:>7,} jobs  {duration(core):>12}  {duration(wall):>12}  {profile.about}"
