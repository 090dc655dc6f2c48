"""``run``: do the jobs that are not done yet."""

from __future__ import annotations

import argparse

from experiments.commands import arguments, selection
from experiments.core.checks import NothingToDoError

REFRESHABLE = ("tables", "report")
REFILL_TIME_LIMIT = 3600.0
DIFFERENCES_SHOWN = 10
RETRYABLE = ("timeout", "memory", "crash", "error", "skipped")


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "run",
        help="run the jobs that are not done yet",
        description=(
            "Run the selected jobs and store their records. Finished jobs are not repeated. Jobs "
            "that ended in an error or crash are tried again; jobs that exceeded a limit are tried "
            "again with a higher limit or with --retry. Ctrl-C stops cleanly; the same command "
            "resumes. Exit status: 0 every job has ended (ok, skipped, or stopped at its limit), "
            "1 some ended in an error or crash, 3 some are still to be run, 4 no job is selected."
        ),
    )
    arguments.add_selection(parser)
    parser.add_argument(
        "--retry",
        type=_statuses,
        metavar="STATUS,…",
        help=f"run only the jobs that ended as one of: {', '.join(RETRYABLE)}",
    )
    parser.add_argument(
        "--shard",
        type=arguments.shard,
        metavar="I/N",
        help="run only share I of N of the jobs; `merge` the stores afterwards",
    )
    parser.add_argument(
        "--fill-predictions",
        action="store_true",
        help="instead, rerun recorded jobs whose test predictions are missing, and keep the "
        "predictions if all scores are the same (default: experiments tuned and default; "
        "--profile is ignored)",
    )
    arguments.add_store(parser)
    group = arguments.add_how(parser)
    arguments.add_executor(group)
    group.add_argument(
        "--keep-trying",
        action="store_true",
        help="run every trial, even if another one exceeded its limit on the same dataset",
    )
    group.add_argument(
        "--refresh",
        type=arguments.words,
        default=[],
        metavar="VERB,…",
        help=f"write these ({', '.join(REFRESHABLE)}) to the store's folder, also during the run",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.core.files import locked, writing
    from experiments.core.store import Store
    from experiments.core.text import say
    from experiments.runner.display import Refresher
    from experiments.runner.plan import make_plan, note_plan, render, shard
    from experiments.runner.profiles import every_use
    from experiments.runner.progress import Progress
    from experiments.runner.queue import Queue
    from experiments.runner.session import SessionSummary, drive, limits_of, sum_up

    selection.check("refresh target", args.refresh, REFRESHABLE)
    if args.fill_predictions:
        return fill_predictions(args)
    profile, jobs = selection.selected(args)
    if args.shard:
        jobs = shard(jobs, *args.shard)
    if not jobs:
        raise NothingToDoError(f"nothing to do: share {args.shard[0]} of {args.shard[1]} is empty")
    store = Store(args.store)
    limits = limits_of(args, profile.time_limit)
    with locked(args.store):
        arguments.tell_problems(store.contents().problems)
        with writing(args.store):
            note_plan(store, every_use(profile, selection.filters_of(args)))
        plan = make_plan(jobs, store, limits, args.workers, args.retry)
        if args.retry and not plan.pending:
            ended = " or ".join(args.retry)
            raise NothingToDoError(f"nothing to do: none of these jobs ended in {ended}")
        say(render(plan, profile))
        shown = ["--params", args.params] if args.params else []
        refresher = Refresher(args.refresh, plan.pending, args.store, shown)
        summary = SessionSummary()
        if plan.pending:
            queue = Queue(plan.pending, not args.keep_trying, plan.harmless())
            progress = Progress(plan.pending, plan.estimates, args.workers)
            title = f"profile {profile.slug}"
            summary = drive(args, queue, progress, limits, title, [refresher])
        if not summary.interrupted:
            refresher.final()
        return sum_up(jobs, store, limits, summary)


def fill_predictions(args: argparse.Namespace) -> int:
    """Run jobs again for their predictions alone; refuse those of fits that are not the same."""
    from experiments.core.checks import EXIT_DONE, EXIT_FAILED, EXIT_INCOMPLETE
    from experiments.core.files import locked
    from experiments.core.merging import PREDICTIONS_KEPT
    from experiments.core.store import Store
    from experiments.core.text import say
    from experiments.runner.estimate import Estimator
    from experiments.runner.plan import Plan, estimate_all, render_jobs, shard
    from experiments.runner.progress import Progress
    from experiments.runner.queue import Queue, Refill, without_predictions
    from experiments.runner.session import drive, limits_of, resume_command

    arguments.require_store(args.store)
    limits = limits_of(args, REFILL_TIME_LIMIT)
    with locked(args.store):
        store = Store(args.store)
        jobs, records = without_predictions(store, PREDICTIONS_KEPT, selection.filters_of(args))
        if args.shard:
            jobs = shard(jobs, *args.shard)
        if not jobs:
            say(f"{args.store}: no predictions are missing.")
            return EXIT_DONE
        estimates = estimate_all(jobs, Estimator(records.values(), limits.seconds), limits)
        say(render_jobs(Plan(jobs, jobs, estimates, args.workers, limits)))
        refill = Refill(records)
        queue, progress = Queue(jobs, give_up=False), Progress(jobs, estimates, args.workers)
        summary = drive(args, queue, progress, limits, "predictions", keep=refill)
    say(f"\n{refill.filled:,} of {len(jobs):,} jobs repeated their records; predictions are kept.")
    for what, lines in (
        ("gave other scores than their records, and were refused", refill.differing),
        ("failed this time", refill.failed),
    ):
        if lines:
            say(f"{len(lines):,} {what}:")
            say("\n".join(f"  {line}" for line in lines[:DIFFERENCES_SHOWN]))
    if summary.interrupted:
        say(f"Stopped{': ' if summary.problem else ''}{summary.problem}")
        say(f"Resume with: {resume_command()}")
        return EXIT_INCOMPLETE
    return EXIT_FAILED if refill.differing or refill.failed else EXIT_DONE


def _statuses(text: str) -> list[str]:
    wanted = arguments.words(text)
    if unknown := [status for status in wanted if status not in RETRYABLE]:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(RETRYABLE)}")
    return wanted
