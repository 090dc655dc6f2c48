"""``run``: do the jobs that are not done yet."""

from __future__ import annotations

import argparse

from experiments import options

RETRYABLE = ("timeout", "memory", "crash", "error", "skipped")


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "run",
        help="do the jobs that are not done yet",
        description=(
            "Run jobs into a store. What is done is never done again; errors and crashes are "
            "tried again; jobs that exceeded a limit are tried again when granted more, or with "
            "--retry. Ctrl-C stops cleanly; the same command resumes. Exit status: 0 every job "
            "is concluded (ok, skipped, or stopped at its limit), 1 some ended in an error or "
            "crash, 3 some are still to be run."
        ),
    )
    options.add_selection(parser)
    parser.add_argument(
        "--retry",
        type=_statuses,
        metavar="STATUS,…",
        help=f"do only the jobs that ended in one of: {', '.join(RETRYABLE)}",
    )
    parser.add_argument(
        "--shard",
        type=options.shard,
        metavar="I/N",
        help="do only share I of N (then `merge` the stores)",
    )
    options.add_store(parser)
    group = options.add_how(parser)
    options.add_executor(group)
    group.add_argument(
        "--keep-trying",
        action="store_true",
        help="try every trial, even after one exceeded its limit on the same dataset",
    )
    group.add_argument(
        "--refresh",
        type=options.words,
        default=[],
        metavar="VERB,…",
        help="run these verbs (tables, report) into the store's folder as rows complete",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.display.progress import Progress
    from experiments.planning.plan import make_plan, render
    from experiments.planning.todo import shard
    from experiments.records.store import Store
    from experiments.running.conclude import conclude
    from experiments.running.driving import drive, limits_of
    from experiments.running.queue import Queue
    from experiments.running.refresh import Refresher

    profile, jobs = options.selected(args)
    if args.shard:
        jobs = shard(jobs, *args.shard)
    store = Store(args.store)
    limits = limits_of(args, profile.time_limit)
    plan = make_plan(jobs, store, limits, args.workers, args.retry)
    print(render(plan, profile), flush=True)
    shown = ["--params", args.params] if args.params else []
    refresher = Refresher(args.refresh, plan.pending, args.store, shown)
    interrupted = False
    if plan.pending:
        queue = Queue(plan.pending, not args.keep_trying, plan.harmless())
        progress = Progress(plan.pending, plan.estimates, args.workers)
        title = f"profile {profile.slug}"
        interrupted = drive(args, queue, progress, limits, title, [refresher]).interrupted
    if not interrupted:
        refresher.final()
    return conclude(jobs, store, limits, interrupted)


def _statuses(text: str) -> list[str]:
    wanted = options.words(text)
    if unknown := [status for status in wanted if status not in RETRYABLE]:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(RETRYABLE)}")
    return wanted
