"""``run``: do the jobs that are not done yet."""

from __future__ import annotations

import argparse

from experiments.commands import arguments

RETRYABLE = ("timeout", "memory", "crash", "error", "skipped")


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "run",
        help="do the jobs that are not done yet",
        description=(
            "Run jobs into a store. What is done is never done again; errors and crashes are "
            "tried again; jobs that exceeded a limit are tried again when granted more, or with "
            "--retry. Ctrl-C stops cleanly; the same command resumes. Exit status: 0 every job "
            "has ended (ok, skipped, or stopped at its limit), 1 some ended in an error or "
            "crash, 3 some are still to be run."
        ),
    )
    arguments.add_selection(parser)
    parser.add_argument(
        "--retry",
        type=_statuses,
        metavar="STATUS,…",
        help=f"do only the jobs that ended in one of: {', '.join(RETRYABLE)}",
    )
    parser.add_argument(
        "--shard",
        type=arguments.shard,
        metavar="I/N",
        help="do only share I of N (then `merge` the stores)",
    )
    arguments.add_store(parser)
    group = arguments.add_how(parser)
    arguments.add_executor(group)
    group.add_argument(
        "--keep-trying",
        action="store_true",
        help="try every trial, even after one exceeded its limit on the same dataset",
    )
    group.add_argument(
        "--refresh",
        type=arguments.words,
        default=[],
        metavar="VERB,…",
        help="run these verbs (tables, report) into the store's folder as rows complete",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.core.files import locked
    from experiments.core.store import Store
    from experiments.core.text import say
    from experiments.runner.display import Progress
    from experiments.runner.plan import make_plan, note_plan, render, shard
    from experiments.runner.profiles import every_use
    from experiments.runner.queue import Queue
    from experiments.runner.refresh import Refresher
    from experiments.runner.session import Summary, drive, limits_of, sum_up

    profile, jobs = arguments.selected(args)
    if args.shard:
        jobs = shard(jobs, *args.shard)
    store = Store(args.store)
    limits = limits_of(args, profile.time_limit)
    with locked(args.store):
        note_plan(store, every_use(profile, arguments.filters_of(args)))
        plan = make_plan(jobs, store, limits, args.workers, args.retry)
        say(render(plan, profile))
        shown = ["--params", args.params] if args.params else []
        refresher = Refresher(args.refresh, plan.pending, args.store, shown)
        summary = Summary()
        if plan.pending:
            queue = Queue(plan.pending, not args.keep_trying, plan.harmless())
            progress = Progress(plan.pending, plan.estimates, args.workers)
            title = f"profile {profile.slug}"
            summary = drive(args, queue, progress, limits, title, [refresher])
        if not summary.interrupted:
            refresher.final()
        return sum_up(jobs, store, limits, summary)


def _statuses(text: str) -> list[str]:
    wanted = arguments.words(text)
    if unknown := [status for status in wanted if status not in RETRYABLE]:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(RETRYABLE)}")
    return wanted
