"""The command line: how a verb is declared and run, the options that several verbs share, and what
these select. Files of ``commands`` are named by the verbs that they declare.
"""

import argparse
import contextlib
import errno
import importlib
import inspect
import math
import os
import pkgutil
import re
import sqlite3
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from experiments import commands
from experiments.errors import DONE, FAILED, MISTAKE, WORK_LEFT, UserError, check_names
from experiments.runner import registry
from experiments.runner.experiments import SEARCH, Profile, Selection, profile_of
from experiments.runner.machine import cores, memory_mb
from experiments.runs.archive import COMMITTED as COMMITTED
from experiments.runs.schema import Limits
from experiments.runs.store import LOCAL
from experiments.text import silence

Container = argparse.ArgumentParser | argparse._ArgumentGroup
Option = Callable[[Container], Any]
"""Adds itself to a parser."""
Verb = Callable[[argparse.Namespace], int]
RESULTS = COMMITTED.parent
MOST_TRIALS = 1000
VERBS: dict[str, tuple[Verb, tuple[Option, ...]]] = {}
"""Those whose modules have been imported."""
NOT_BUGS = ("EACCES", "EPERM", "EROFS", "ENOSPC", "ENOTDIR", "EISDIR", "EEXIST")
"""What a file system may say to a correct program."""


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
    if not re.fullmatch(r"\d+/\d+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form 1/4")
    index, count = map(int, text.split("/"))
    if not 1 <= index <= count:
        raise argparse.ArgumentTypeError(f"{text!r}: the first number must be 1 to {count}")
    return index, count


def above_zero(text: str, kind: type[int] | type[float] = int) -> float:
    """A finite number, whole or not."""
    with contextlib.suppress(ValueError):
        if 0 < kind(text) < math.inf:
            return kind(text)
    what = "whole number" if kind is int else "number"
    raise argparse.ArgumentTypeError(f"{text!r} is not a {what} above 0")


def trials(text: str) -> list[int]:
    """``"0-4,7"`` as a list of numbers."""
    numbers: list[int] = []
    for piece in words(text):
        if not (found := re.fullmatch(r"(\d+)(?:-(\d+))?", piece)):
            raise argparse.ArgumentTypeError(f"{text!r} is not of the form 0-4,7")
        low, high = int(found[1]), int(found[2] or found[1])
        if low > high:
            raise argparse.ArgumentTypeError(f"{piece!r} runs backwards; write {high}-{low}")
        if high >= MOST_TRIALS:
            raise argparse.ArgumentTypeError(f"{high} is no trial: they end at {MOST_TRIALS - 1}")
        numbers += range(low, high + 1)
    return list(dict.fromkeys(numbers))


COUNT, AMOUNT = above_zero, partial(above_zero, kind=float)
PLUGIN = option(
    "--plugin", "a Python file of yours (repeatable)", str, "FILE.py", [], action="append"
)
"""Of every verb; see ``experiments.runner.registry`` for what the file defines."""
STORE = option("--store", "folder of runs (default: .runs)", Path, "FOLDER", LOCAL)
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
    option("--workers", "jobs at the same time (default: one per core)", COUNT, "N"),
    option("--time-limit", "seconds per job (default: the profile's, else 3600)", AMOUNT, "S"),
    option("--memory-limit", "per job (default: a fair share of 80%% of all)", AMOUNT, "MB"),
)
HOW = (
    *LIMITS,
    option("--scheduler", "run on the Dask cluster of this scheduler", metavar="ADDRESS"),
    option("--executor", "local (default), or one of a plug-in"),
    flag("--inline", "run the jobs in this process, without limits, for debugging"),
)


def output_folder(args: argparse.Namespace) -> Path:
    """Where a verb writes: as told, or results/ for the committed runs, else the store."""
    return Path(args.output or (RESULTS if args.store.resolve() == COMMITTED else args.store))


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
    check(experiment=args.experiment, method=args.method, protocol=args.protocol)
    place = (args.experiment, args.protocol, datasets(args.dataset), args.method, args.trial)
    chosen = Selection(*place, "ours" if args.params == "ours" else None, args.store)
    return profile_of(args.profile), chosen


def check(**named: Iterable[str] | None) -> None:
    """Refuse an experiment, method or protocol that there is not."""
    for kind, names in named.items():
        known = registry.entries("learner" if kind == "method" else kind)
        check_names(kind, names, [*known, SEARCH] if kind == "experiment" else known)


def datasets(wanted: list[str] | None) -> list[str] | None:
    return None if wanted is None else [registry.resolve_dataset(text) for text in wanted]


# Running a verb.


def verbs() -> dict[str, str]:
    """Every verb with its module, which may be one of several: ``merge_export`` has two."""
    found = {info.name for info in pkgutil.iter_modules(commands.__path__)} - {"arguments"}
    return dict(sorted((verb, module) for module in found for verb in module.split("_")))


def build_parser(wanted: str | None = None) -> argparse.ArgumentParser:
    """The parser of all verbs, or of the one wanted, so that no verb pays for another's imports."""
    parser = Parser(
        prog="python -m experiments",
        description="Run the experiments of the GradTree paper and compare the results with it.",
    )
    found = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    known = verbs()
    if wanted and not wanted.startswith("-"):
        check_names("verb", [wanted], known)
    for name in [wanted] if wanted in known else known:
        importlib.import_module(f"{commands.__name__}.{known[name]}")
        function, options = VERBS[name]
        about, _, more = (inspect.getdoc(function) or "").partition("\n\n")
        verb = found.add_parser(name, help=about.rstrip("."), description=more or about)
        verb.set_defaults(run=function)
        for add in (*options, PLUGIN):
            add(verb)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit status; ``experiments.errors`` lists what they mean."""
    for name in ("stdout", "stderr"):  # let no character end a verb, nor the lack of output
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 - until the very end
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    given = list(sys.argv[1:] if argv is None else argv)

    def work() -> int:
        args, unknown = build_parser(given[0] if given else None).parse_known_args(given)
        if unknown:
            told = f"unknown arguments: {' '.join(unknown)}"
            raise UserError(f"{told}\nSee: python -m experiments {args.verb} --help")
        if args.plugin:
            registry.use(args.plugin)
        return int(args.run(args))

    return guarded(work)


def guarded(work: Callable[[], int]) -> int:
    """Do something; a user's mistake ends in a sentence, a bug in a traceback."""
    try:
        return work()
    except UserError as mistake:
        print(mistake, file=sys.stderr)
        return mistake.status
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return WORK_LEFT
    except BrokenPipeError:
        silence()
        return DONE
    except Exception as problem:
        told = _not_a_bug(problem)
        if told:
            print(told, file=sys.stderr)
            return MISTAKE
        traceback.print_exc()
        print("\nThis is a bug in the suite; please report it with these lines.", file=sys.stderr)
        return FAILED


def _not_a_bug(problem: Exception) -> str | None:
    """What the disk, a damaged store or the sources of data refuse, in their words."""
    from datasets.errors import DatasetUnavailable

    if isinstance(problem, DatasetUnavailable):
        return str(problem)
    if isinstance(problem, OSError) and errno.errorcode.get(problem.errno or 0) in NOT_BUGS:
        return f"{problem.filename or 'the disk'}: {problem.strerror}"
    if isinstance(problem, sqlite3.DatabaseError):
        remedy = "Bring back runs.sqlite, or name another --store."
        return f"the store cannot be used: {problem}\n{remedy}"
    return None
