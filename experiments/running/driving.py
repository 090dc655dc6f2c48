"""From arguments to a running session: limits, executor, display, and a clean stop."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from experiments.display.plain import PlainDisplay
from experiments.display.progress import Progress
from experiments.executors.contract import Executor, Limits, memory_share
from experiments.records.store import Store
from experiments.running.session import JobSource, Listener, Summary, run_session


def limits_of(args: argparse.Namespace, time_limit: float) -> Limits:
    """The limits that were asked for, or a profile's time and a fair share of memory."""
    return Limits(
        seconds=args.time_limit or time_limit,
        memory_mb=args.memory_limit or memory_share(args.workers),
        threads=args.threads,
    )


def drive(
    args: argparse.Namespace,
    queue: JobSource,
    progress: Progress,
    limits: Limits,
    title: str,
    listeners: Sequence[Listener] = (),
) -> Summary:
    """Run a queue on the executor that was asked for, with the display that fits."""
    with interrupts_on_sigterm():
        executor = executor_of(args, limits)
        shown = display_of(args, progress, title)
        return run_session(queue, Store(args.store), executor, [shown, *listeners])


def executor_of(args: argparse.Namespace, limits: Limits) -> Executor:
    """Supervised processes unless told otherwise."""
    if args.inline:
        from experiments.executors.inline import InlineExecutor

        return InlineExecutor()
    if args.scheduler:
        from experiments.executors.cluster import DaskExecutor

        return DaskExecutor(args.scheduler, limits)
    from experiments.executors.pool import ProcessExecutor

    return ProcessExecutor(args.workers, limits)


def display_of(args: argparse.Namespace, progress: Progress, title: str) -> Listener:
    """A live picture on a terminal, lines elsewhere."""
    if args.plain or not sys.stdout.isatty():
        return PlainDisplay(progress)
    from experiments.display.live import LiveDisplay

    return LiveDisplay(progress, f"{title} → {args.store}")


@contextmanager
def interrupts_on_sigterm() -> Iterator[None]:
    """Let a polite kill end a run as cleanly as Ctrl-C does."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
