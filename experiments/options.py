"""Arguments that several verbs share, and what they select."""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from experiments.executors.contract import Executor, Limits
    from experiments.jobs import Job
    from experiments.profiles import Filters, Profile


def add_store(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--store",
        type=Path,
        default=Path(".runs"),
        metavar="FOLDER",
        help="folder of run records (default: %(default)s)",
    )


def add_selection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which jobs")
    group.add_argument(
        "--profile",
        default="paper",
        metavar="NAME",
        help="smoke, quick or paper (default: %(default)s); the filters below narrow it",
    )
    group.add_argument("--experiment", type=words, metavar="A,B", help="only these experiments")
    group.add_argument("--protocol", type=words, metavar="A,B", help="paper, clean")
    group.add_argument(
        "--dataset", type=words, metavar="A,B", help="only these datasets, by name or slug"
    )
    group.add_argument(
        "--method", type=words, metavar="A,B", help="only these learners, e.g. cart,gradtree"
    )
    group.add_argument("--trial", type=_trials, metavar="0-4,7", help="only these trials")
    group.add_argument(
        "--params",
        choices=("published", "ours"),
        help="hyperparameters of `tuned`: the paper's (default) or those our search found",
    )
    group.add_argument(
        "--plugin",
        action="append",
        default=[],
        metavar="MODULE",
        help="a module that offers more learners or datasets (repeatable)",
    )


def add_how(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    group = parser.add_argument_group("how")
    group.add_argument(
        "--workers",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="jobs at a time (default: one per core, %(default)s)",
    )
    group.add_argument(
        "--time-limit", type=float, metavar="S", help="seconds per job (default: the profile's)"
    )
    group.add_argument(
        "--memory-limit",
        type=float,
        metavar="MB",
        help="resident memory per job (default: 80%% of the machine, shared by the workers)",
    )
    group.add_argument(
        "--threads",
        type=int,
        default=1,
        metavar="N",
        help="threads of every numerical library in a job (default: %(default)s)",
    )
    return group


def limits_of(args: argparse.Namespace, profile: Profile) -> Limits:
    from experiments.executors.contract import Limits, memory_share

    return Limits(
        seconds=args.time_limit or profile.time_limit,
        memory_mb=args.memory_limit or memory_share(args.workers),
        threads=args.threads,
    )


def executor_of(args: argparse.Namespace, limits: Limits) -> Executor:
    """The executor that was asked for: supervised processes unless told otherwise."""
    if args.inline:
        from experiments.executors.inline import InlineExecutor

        return InlineExecutor()
    if args.scheduler:
        from experiments.executors.cluster import DaskExecutor

        return DaskExecutor(args.scheduler, limits)
    from experiments.executors.pool import ProcessExecutor

    return ProcessExecutor(args.workers, limits)


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


def selected(args: argparse.Namespace) -> tuple[Profile, list[Job]]:
    """The profile that was asked for and its jobs, filtered, each piece of work once."""
    from experiments.profiles import select

    profile = profile_of(args)
    return profile, select(profile, filters_of(args))


def profile_of(args: argparse.Namespace) -> Profile:
    from experiments.profiles import profiles

    known = profiles()
    if args.profile not in known:
        raise SystemExit(f"unknown profile {args.profile!r}; known are {', '.join(known)}")
    return known[args.profile]


def filters_of(args: argparse.Namespace) -> Filters:
    """Filters with every name checked, so that a typo never selects nothing in silence."""
    from experiments import plugins
    from experiments.catalogue import EXPERIMENTS
    from experiments.profiles import Filters

    plugins.use(args.plugin)
    datasets = None
    if args.dataset is not None:
        try:
            datasets = [plugins.resolve_dataset(text) for text in args.dataset]
        except LookupError as problem:
            raise SystemExit(str(problem.args[0])) from None
    _check("experiment", args.experiment, list(EXPERIMENTS))
    _check("learner", args.method, plugins.learner_slugs())
    for protocol in args.protocol or ():
        try:
            plugins.protocol_version(protocol)
        except KeyError as problem:
            raise SystemExit(problem.args[0]) from None
    return Filters(
        experiments=args.experiment,
        protocols=args.protocol,
        datasets=datasets,
        methods=args.method,
        trials=args.trial,
        setting="ours" if args.params == "ours" else None,
    )


def _check(what: str, wanted: list[str] | None, known: list[str]) -> None:
    import difflib

    for name in wanted or ():
        if name not in known:
            close = difflib.get_close_matches(name, known, n=2)
            hint = f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(known)}"
            raise SystemExit(f"unknown {what} {name!r}; {hint}")


def words(text: str) -> list[str]:
    """``"a, b"`` as a list."""
    return [word.strip() for word in text.split(",") if word.strip()]


def _trials(text: str) -> list[int]:
    trials: list[int] = []
    for piece in words(text):
        first, _, last = piece.partition("-")
        trials += range(int(first), int(last or first) + 1)
    return trials
