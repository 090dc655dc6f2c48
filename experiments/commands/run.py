"""``run``: do the jobs that are not done yet."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from experiments import options

if TYPE_CHECKING:
    from experiments.display.progress import Progress
    from experiments.planning import Plan
    from experiments.profiles import Profile
    from experiments.session import Listener

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
        "--shard", type=_shard, metavar="I/N", help="do only share I of N (then `merge` the stores)"
    )
    options.add_store(parser)
    group = options.add_how(parser)
    group.add_argument(
        "--scheduler", metavar="ADDRESS", help="run on the Dask cluster of this scheduler"
    )
    group.add_argument(
        "--inline",
        action="store_true",
        help="run in this very process, without limits, for debugging",
    )
    group.add_argument(
        "--keep-trying",
        action="store_true",
        help="try every trial, even after one exceeded its limit on the same dataset",
    )
    group.add_argument("--plain", action="store_true", help="lines of text even on a terminal")
    group.add_argument(
        "--refresh",
        type=options.words,
        default=[],
        metavar="VERB,…",
        help="run these verbs (tables, report) into the store's folder as rows complete",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.conclude import conclude
    from experiments.planning import make_plan, render
    from experiments.queue import Queue
    from experiments.refresh import Refresher
    from experiments.session import run_session
    from experiments.store import Store
    from experiments.todo import shard

    profile, jobs = options.selected(args)
    if args.shard:
        jobs = shard(jobs, *args.shard)
    store = Store(args.store)
    plan = make_plan(jobs, store, options.limits_of(args, profile), args.workers, args.retry)
    print(render(plan, profile), flush=True)
    refresher = Refresher(args.refresh, plan.pending, args.store)
    interrupted = False
    if plan.pending:
        with options.interrupts_on_sigterm():
            executor = options.executor_of(args, plan.limits)
            listeners: list[Listener] = [display_of(args, plan, profile), refresher]
            queue = Queue(plan.pending, not args.keep_trying, plan.harmless())
            summary = run_session(queue, store, executor, listeners)
        interrupted = summary.interrupted
    if not interrupted:
        refresher.final()
    return conclude(jobs, store, plan.limits, interrupted)


def display_of(args: argparse.Namespace, plan: Plan, profile: Profile) -> Listener:
    """A live picture on a terminal, lines elsewhere."""
    import sys

    from experiments.display.plain import PlainDisplay
    from experiments.display.progress import Progress

    progress: Progress = Progress(plan.pending, plan.estimates, plan.workers)
    if args.plain or not sys.stdout.isatty():
        return PlainDisplay(progress)
    from experiments.display.live import LiveDisplay

    return LiveDisplay(progress, f"profile {profile.slug} → {args.store}")


def _statuses(text: str) -> list[str]:
    wanted = options.words(text)
    if unknown := [status for status in wanted if status not in RETRYABLE]:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(RETRYABLE)}")
    return wanted


def _shard(text: str) -> tuple[int, int]:
    try:
        index, count = map(int, text.split("/"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form 1/4") from None
    if not 1 <= index <= count:
        raise argparse.ArgumentTypeError(f"{text!r}: the first number must be 1 to {count}")
    return index, count
