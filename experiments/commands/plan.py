"""``plan``: what a run would do, and how long it would take."""

from __future__ import annotations

import argparse

from experiments.commands import arguments, selection


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "plan",
        help="how many jobs, how many done, how long the rest will take",
        description=(
            "Show the jobs of a selection per learner without running any. Times are estimated "
            "from the records of similar jobs, in the store and among the committed results."
        ),
    )
    arguments.add_selection(parser)
    arguments.add_store(parser)
    arguments.add_how(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.core.store import Store
    from experiments.runner.plan import make_plan, render
    from experiments.runner.session import limits_of

    profile, jobs = selection.selected(args)
    limits = limits_of(args, profile.time_limit)
    plan = make_plan(jobs, Store(args.store), limits, args.workers)
    print(render(plan, profile))
    return 0
