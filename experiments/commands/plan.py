"""``plan``: what a run would do, and how long it would take."""

from __future__ import annotations

import argparse

from experiments.commands import arguments, selection


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "plan",
        help="show how many jobs there are, how many are done and how long the rest takes",
        description=(
            "Count the selected jobs per learner without running any, and estimate how long they "
            "take, from the records of similar jobs in the store and in the committed results."
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
