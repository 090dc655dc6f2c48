"""Arguments that several verbs share, and what they select."""

from __future__ import annotations

import argparse
import difflib
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from experiments.core.job import Job
    from experiments.runner.profiles import Filters, Profile


def add_store(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--store",
        type=store_folder,
        default=Path(".runs"),
        metavar="FOLDER",
        help="folder of run records (default: %(default)s)",
    )


def store_folder(text: str) -> Path:
    """A folder of run records, or one to be made; not the folder around such a one."""
    folder = Path(text)
    inside = [path.parent for path in sorted(folder.glob("*/environments.jsonl"))]
    if inside:
        raise argparse.ArgumentTypeError(
            f"{folder} is no folder of run records; did you mean {inside[0]}?"
        )
    return folder


def add_plugins(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--plugin",
        action="append",
        default=[],
        metavar="MODULE",
        help="a module that offers more learners or datasets (repeatable)",
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
    group.add_argument("--trial", type=trials, metavar="0-4,7", help="only these trials")
    group.add_argument(
        "--params",
        choices=("published", "ours"),
        help="hyperparameters of `tuned`: the paper's (default) or those our search found",
    )
    add_plugins(group)


def add_how(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    group = parser.add_argument_group("how")
    group.add_argument(
        "--workers",
        type=_positive,
        default=os.cpu_count() or 1,
        metavar="N",
        help="jobs at a time (default: one per core, %(default)s)",
    )
    group.add_argument("--time-limit", type=float, metavar="S", help="seconds per job")
    group.add_argument(
        "--memory-limit",
        type=float,
        metavar="MB",
        help="resident memory per job (default: 80%% of the machine, shared by the workers)",
    )
    group.add_argument(
        "--threads",
        type=_positive,
        default=1,
        metavar="N",
        help="threads of every numerical library in a job (default: %(default)s)",
    )
    return group


def add_executor(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--scheduler", metavar="ADDRESS", help="run on the Dask cluster of this scheduler"
    )
    group.add_argument(
        "--inline",
        action="store_true",
        help="run in this very process, without limits, for debugging",
    )
    group.add_argument("--plain", action="store_true", help="lines of text even on a terminal")


def selected(args: argparse.Namespace) -> tuple[Profile, list[Job]]:
    """The profile that was asked for and its jobs, filtered, each piece of work once."""
    from experiments.runner.profiles import select

    profile = profile_of(args)
    try:
        return profile, select(profile, filters_of(args))
    except LookupError as problem:
        raise SystemExit(str(problem.args[0])) from None


def profile_of(args: argparse.Namespace) -> Profile:
    from experiments.runner.profiles import profiles

    check("profile", [args.profile], list(profiles()))
    return profiles()[args.profile]


def filters_of(args: argparse.Namespace) -> Filters:
    """Filters with every name checked, so that a typo never selects nothing in silence."""
    from experiments.runner import plugins
    from experiments.runner.catalogue import EXPERIMENTS, SEARCH
    from experiments.runner.profiles import Filters

    plugins.use(args.plugin)
    check("experiment", args.experiment, [*EXPERIMENTS, SEARCH])
    check("learner", args.method, plugins.learner_slugs())
    check("protocol", args.protocol, plugins.protocols())
    return Filters(
        experiments=args.experiment,
        protocols=args.protocol,
        datasets=None if args.dataset is None else dataset_slugs(args.dataset),
        methods=args.method,
        trials=args.trial,
        setting="ours" if args.params == "ours" else None,
    )


def dataset_slugs(wanted: list[str] | None) -> list[str]:
    """Slugs of datasets given by name or slug; all of them if none is given."""
    from experiments.runner import plugins
    from experiments.runner.catalogue import all_datasets

    if wanted is None:
        return list(all_datasets())
    try:
        return [plugins.resolve_dataset(text) for text in wanted]
    except LookupError as problem:
        raise SystemExit(str(problem.args[0])) from None


def check(what: str, wanted: list[str] | None, known: list[str]) -> None:
    """End with a hint if a name is not among those known."""
    for name in wanted or ():
        if name not in known:
            close = difflib.get_close_matches(name, known, n=2)
            hint = f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(known)}"
            raise SystemExit(f"unknown {what} {name!r}; {hint}")


def words(text: str) -> list[str]:
    """``"a, b"`` as a list."""
    return [word.strip() for word in text.split(",") if word.strip()]


def shard(text: str) -> tuple[int, int]:
    """``"2/4"`` as two numbers."""
    try:
        index, count = map(int, text.split("/"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form 1/4") from None
    if not 1 <= index <= count:
        raise argparse.ArgumentTypeError(f"{text!r}: the first number must be 1 to {count}")
    return index, count


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of at least 1")
    return int(text)


def trials(text: str) -> list[int]:
    """``"0-4,7"`` as a list of numbers."""
    numbers: list[int] = []
    for piece in words(text):
        first, _, last = piece.partition("-")
        if not first.isdigit() or not (last or first).isdigit():
            raise argparse.ArgumentTypeError(f"{text!r} is not of the form 0-4,7")
        numbers += range(int(first), int(last or first) + 1)
    return numbers
