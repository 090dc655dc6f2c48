"""``plan``: what a run would do, and how long it would take."""

from __future__ import annotations

import argparse

from experiments.commands import arguments
from experiments.errors import DONE


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "plan",
        help="show how many jobs there are, how many are done and how long the rest takes",
        description=(
            "Count the selected jobs per learner without running any, and estimate their core "
            "time by the committed runs of the same learner on the same dataset."
        ),
    )
    arguments.add_selection(parser)
    arguments.add_store(parser)
    arguments.add_how(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.commands.run import plan_of
    from experiments.runner.experiments import check_selected, jobs_in, searches_in
    from experiments.runner.plan import render, search_seconds

    profile, chosen = arguments.selected(args)
    parts = {leaf.slug: jobs_in(leaf, chosen) for leaf in profile.leaves()}
    searches = searches_in(profile, chosen)
    check_selected(profile, chosen, [job for part in parts.values() for job in part], searches)
    plan = plan_of(args, profile, parts)
    spent = {subject: search_seconds(subject, trials) for subject, trials in searches}
    print(f"Profile {profile.slug}: {profile.about}.\n\n{render(plan, args.workers, spent)}")
    return DONE
