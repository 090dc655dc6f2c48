"""Arguments that several verbs share, and what they select."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from experiments.errors import UserError, check_names
from experiments.runs.store import FILE, LOCAL

if TYPE_CHECKING:
    from experiments.runner.experiments import Profile, Selection
    from experiments.runs.job import Limits

Container = argparse.ArgumentParser | argparse._ArgumentGroup
Kind = Callable[[str], Any]
RESULTS = Path(__file__).resolve().parents[2] / "results"
COMMITTED = RESULTS / "runs"
MOST_TRIALS = 1000


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are a user's mistakes like any other: two lines, no usage."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message.removeprefix('argument ')}\nSee: {self.prog} --help")


def option(
    parser: Container,
    name: str,
    text: str,
    kind: Kind = str,
    metavar: str = "NAME",
    default: Any = None,
) -> None:
    """An option that takes a value."""
    parser.add_argument(name, type=kind, metavar=metavar, default=default, help=text)


def flag(parser: Container, name: str, text: str) -> None:
    parser.add_argument(name, action="store_true", help=text)


def add_store(parser: Container) -> None:
    """The store that a verb writes to."""
    option(
        parser,
        "--store",
        "folder of the table of runs (default: .runs)",
        store_folder,
        "FOLDER",
        LOCAL,
    )


def add_source(parser: Container) -> None:
    """What a verb reads, the user's own runs or the committed ones, and where it writes."""
    add_store(parser)
    text = "read the committed runs and write to results/"
    parser.add_argument("--results", action="store_const", dest="store", const=COMMITTED, help=text)
    add_params(parser)
    where = "where to write (default: the store's folder, or results/ with --results)"
    option(parser, "--output", where, Path, "FOLDER")


def add_params(parser: Container) -> None:
    text = "hyperparameters of `tuned`: the paper's (default) or those found by our search"
    parser.add_argument("--params", choices=("published", "ours"), help=text)


def output_folder(args: argparse.Namespace) -> Path:
    """Where a verb writes: as told, or results/ for the committed runs, else the store."""
    if args.output is not None:
        return Path(args.output)
    return RESULTS if Path(args.store).resolve() == COMMITTED else Path(args.store)


def store_folder(text: str) -> Path:
    """A folder of runs, or one to be made; not a file, nor the folder around a store."""
    folder = Path(text)
    if folder.exists() and not folder.is_dir():
        raise argparse.ArgumentTypeError(f"{folder} is a file, not a folder of runs")
    inside = [path.parent for path in sorted(folder.glob(f"*/{FILE}"))]
    if inside and not (folder / FILE).is_file():
        raise argparse.ArgumentTypeError(f"{folder} has no runs; did you mean {inside[0]}?")
    return folder


def require_store(folder: Path) -> None:
    """Refuse to read a store that is not there: a typo would look like an empty one."""
    if not (folder / FILE).is_file() and not (folder / "planned.parquet").is_file():
        raise UserError(
            f"there are no runs in {folder}\n`make reproduce` fills {LOCAL}; --store names another "
            "folder, e.g. results/runs for the committed ones"
        )


def add_plugins(parser: Container) -> None:
    """Every verb has this option; see ``experiments.runner.plugin`` for what the file defines."""
    if "--plugin" not in parser._option_string_actions:
        text = "a Python file with more learners, datasets, metrics, tables, … (repeatable)"
        parser.add_argument("--plugin", action="append", default=[], metavar="FILE.py", help=text)


def add_selection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which jobs")
    about = "what to run, see `list profiles` (default: paper); the options below choose from it"
    option(group, "--profile", about, default="paper")
    option(group, "--experiment", "only these experiments", words, "A,B")
    option(group, "--protocol", "only these protocols", words, "A,B")
    option(group, "--dataset", "only these datasets, by name or slug", words, "A,B")
    option(group, "--method", "only these methods, e.g. cart,gradtree", words, "A,B")
    option(group, "--trial", "these trials, beyond the paper's ten too", trials, "0-4,7")
    add_params(group)


def add_how(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    group = parser.add_argument_group("how")
    cores = "jobs that run at the same time (default: one per core that this process may use)"
    option(group, "--workers", cores, whole(1), "N")
    limit = "seconds per job (default: the profile's limit, else 3600)"
    option(group, "--time-limit", limit, positive, "S")
    memory = "resident memory per job (default: 80%% of what there is, divided among the workers)"
    option(group, "--memory-limit", memory, positive, "MB")
    threads = "threads per job for numerical libraries (default: 1)"
    option(group, "--threads", threads, whole(1), "N", 1)
    return group


def add_executor(group: Container) -> None:
    option(group, "--scheduler", "run on the Dask cluster of this scheduler", metavar="ADDRESS")
    option(group, "--executor", "local (default), or one of a plug-in")
    flag(group, "--inline", "run the jobs in this process, without limits, for debugging")
    flag(group, "--plain", "print a line per job instead of the live display")


def workers_of(args: argparse.Namespace) -> int:
    """As many as asked for, or as this process may use cores."""
    from experiments.runner.machine import cores

    args.workers = args.workers or cores()
    return int(args.workers)


def limits_of(args: argparse.Namespace, time_limit: float) -> Limits:
    """The limits that were asked for, or a profile's time and a fair share of memory."""
    from experiments.runner.machine import memory_mb
    from experiments.runs.job import Limits

    return Limits(
        seconds=args.time_limit or time_limit,
        memory_mb=args.memory_limit or 0.8 * memory_mb() / workers_of(args),
        threads=args.threads,
    )


def selected(args: argparse.Namespace) -> tuple[Profile, Selection]:
    """The profile that was asked for and what is chosen of it, with every name checked."""
    from experiments.runner import registry
    from experiments.runner.experiments import SEARCH, Selection, profile_of

    check_names("experiment", args.experiment, [*registry.entries("experiment"), SEARCH])
    check_names("method", args.method, registry.learners())
    check_names("protocol", args.protocol, registry.entries("protocol"))
    chosen = Selection(
        experiments=args.experiment,
        protocols=args.protocol,
        datasets=datasets(args.dataset),
        methods=args.method,
        trials=args.trial,
        setting="ours" if args.params == "ours" else None,
        store=args.store,
    )
    return profile_of(args.profile), chosen


def datasets(wanted: list[str] | None) -> list[str] | None:
    """Slugs of datasets given by name or slug."""
    from experiments.runner import registry

    return None if wanted is None else [registry.resolve_dataset(text) for text in wanted]


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
