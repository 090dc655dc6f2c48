"""How a verb is declared, the options that several verbs share, and what these select."""

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from experiments.errors import UserError, check_names
from experiments.runner import registry
from experiments.runner.experiments import SEARCH, Profile, Selection, profile_of
from experiments.runner.machine import cores, memory_mb
from experiments.runs.archive import COMMITTED as COMMITTED
from experiments.runs.job import Limits
from experiments.runs.store import FILE, LOCAL

Container = argparse.ArgumentParser | argparse._ArgumentGroup
Option = Callable[[Container], Any]
"""Adds itself to a parser."""
Verb = Callable[[argparse.Namespace], int]
RESULTS = COMMITTED.parent
MOST_TRIALS = 1000
VERBS: dict[str, tuple[Verb, tuple[Option, ...]]] = {}
"""Those whose modules have been imported."""


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are a user's mistakes like any other: two lines, no usage."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message.removeprefix('argument ')}\nSee: {self.prog} --help")


def verb(name: str, *options: Option) -> Callable[[Verb], Verb]:
    """Declare a verb: a function whose docstring is its help, and its options."""

    def declare(function: Verb) -> Verb:
        VERBS[name] = function, options
        return function

    return declare


def option(
    name: str,
    text: str,
    kind: Callable[[str], Any] = str,
    metavar: str | None = "NAME",
    default: Any = None,
    **more: Any,
) -> Option:
    """An option that takes a value or, without dashes in its name, an argument."""
    how = {"type": kind, "metavar": metavar, "default": default, "help": text, **more}
    return lambda parser: parser.add_argument(name, **how)


def flag(name: str, text: str, action: Any = "store_true", **more: Any) -> Option:
    return lambda parser: parser.add_argument(name, action=action, help=text, **more)


def group(title: str, *options: Option) -> Option:
    def add(parser: Container) -> None:
        under = parser.add_argument_group(title)
        for each in options:
            each(under)

    return add


def words(text: str) -> list[str]:
    """``"a, b"`` as a list."""
    found = [word.strip() for word in text.split(",") if word.strip()]
    if not found:
        raise argparse.ArgumentTypeError("no name is given")
    return list(dict.fromkeys(found))


def shard(text: str) -> tuple[int, int]:
    """``"2/4"`` as two numbers."""
    try:
        index, count = map(int, text.split("/"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form 1/4") from None
    if not 1 <= index <= count:
        raise argparse.ArgumentTypeError(f"{text!r}: the first number must be 1 to {count}")
    return index, count


def whole(least: int) -> Callable[[str], int]:
    """A whole number that is not below ``least``."""

    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit()) or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return int(text)

    return parse


def positive(text: str) -> float:
    """A finite number above zero."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


def trials(text: str) -> list[int]:
    """``"0-4,7"`` as a list of numbers."""
    numbers: list[int] = []
    for piece in words(text):
        first, _, last = piece.partition("-")
        if not first.isdigit() or not (last or first).isdigit():
            raise argparse.ArgumentTypeError(f"{text!r} is not of the form 0-4,7")
        low, high = int(first), int(last or first)
        if low > high:
            raise argparse.ArgumentTypeError(f"{piece!r} runs backwards; write {high}-{low}")
        if high >= MOST_TRIALS:
            raise argparse.ArgumentTypeError(f"{high} is no trial: they end at {MOST_TRIALS - 1}")
        numbers += range(low, high + 1)
    return list(dict.fromkeys(numbers))


def store_folder(text: str) -> Path:
    """A folder of runs, or one to be made; not a file, nor the folder around a store."""
    folder = Path(text)
    if folder.exists() and not folder.is_dir():
        raise argparse.ArgumentTypeError(f"{folder} is a file, not a folder of runs")
    inside = [path.parent for path in sorted(folder.glob(f"*/{FILE}"))]
    if inside and not (folder / FILE).is_file():
        raise argparse.ArgumentTypeError(f"{folder} has no runs; did you mean {inside[0]}?")
    return folder


PLUGIN = option(
    "--plugin", "a Python file of yours (repeatable)", str, "FILE.py", [], action="append"
)
"""Of every verb; see ``experiments.runner.plugin`` for what the file defines."""
STORE = option("--store", "folder of runs (default: .runs)", store_folder, "FOLDER", LOCAL)
PARAMS = option(
    "--params", "of `tuned`: the paper's or our search's", str, None, choices=("published", "ours")
)
SOURCE = group(
    "which runs",
    STORE,
    flag(
        "--results", "the committed runs, to results/", "store_const", dest="store", const=COMMITTED
    ),
    PARAMS,
    option("--output", "where to write (default: the store, or results/)", Path, "FOLDER"),
)
SELECTION = group(
    "which jobs",
    option("--profile", "what to run, see `list profiles` (default: paper)", default="paper"),
    option("--experiment", "only these experiments of the profile", words, "A,B"),
    option("--protocol", "only these protocols", words, "A,B"),
    option("--dataset", "only these datasets, by name or slug", words, "A,B"),
    option("--method", "only these methods, e.g. cart,gradtree", words, "A,B"),
    option("--trial", "these trials, beyond the paper's ten too", trials, "0-4,7"),
    PARAMS,
)
SHARD = option(
    "--shard", "only share I of N, in a store of its own; then `merge`", shard, "I/N", (1, 1)
)
LIMITS = (
    option("--workers", "jobs at the same time (default: one per core)", whole(1), "N"),
    option("--time-limit", "seconds per job (default: the profile's, else 3600)", positive, "S"),
    option("--memory-limit", "per job (default: a fair share of 80%% of all)", positive, "MB"),
)
HOW = (
    *LIMITS,
    option("--scheduler", "run on the Dask cluster of this scheduler", metavar="ADDRESS"),
    option("--executor", "local (default), or one of a plug-in"),
    flag("--inline", "run the jobs in this process, without limits, for debugging"),
    flag("--plain", "print a line per job instead of the live display"),
)


def output_folder(args: argparse.Namespace) -> Path:
    """Where a verb writes: as told, or results/ for the committed runs, else the store."""
    if args.output is not None:
        return Path(args.output)
    return RESULTS if Path(args.store).resolve() == COMMITTED else Path(args.store)


def own_tables() -> tuple[dict[str, Any], dict[str, Any]]:
    """Tables and printed numbers of the plug-ins, whose answer stands before all others."""
    return registry.from_plugins("table"), registry.from_plugins("printed")


def limits_of(args: argparse.Namespace, time_limit: float = 3600.0) -> Limits:
    """The limits that were asked for, or a profile's time and a fair share of memory."""
    args.workers = args.workers or cores()
    share = args.memory_limit or 0.8 * memory_mb() / args.workers
    return Limits(args.time_limit or time_limit, share)


def selected(args: argparse.Namespace) -> tuple[Profile, Selection]:
    """The profile that was asked for and what is chosen of it, with every name checked."""
    check_names("experiment", args.experiment, [*registry.entries("experiment"), SEARCH])
    check_names("method", args.method, registry.entries("learner"))
    check_names("protocol", args.protocol, registry.entries("protocol"))
    place = (args.experiment, args.protocol, datasets(args.dataset), args.method, args.trial)
    chosen = Selection(*place, "ours" if args.params == "ours" else None, args.store)
    return profile_of(args.profile), chosen


def datasets(wanted: list[str] | None) -> list[str] | None:
    return None if wanted is None else [registry.resolve_dataset(text) for text in wanted]
