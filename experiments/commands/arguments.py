"""Arguments that several verbs share, and what is refused with a sentence."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from experiments.core.checks import UserError
from experiments.core.store import COMMITTED, LOCAL

RESULTS = COMMITTED.parent
FILES_SHOWN = 5
PROBLEMS_SHOWN = 5
N_TRIALS = 10


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are a user's mistakes like any other: two lines, no usage."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message.removeprefix('argument ')}\nSee: {self.prog} --help")


def add_store(parser: argparse.ArgumentParser) -> None:
    """The store that a verb writes to."""
    parser.add_argument(
        "--store",
        type=store_folder,
        default=LOCAL,
        metavar="FOLDER",
        help="folder of run records (default: %(default)s)",
    )


def add_source(parser: argparse.ArgumentParser) -> None:
    """The store that a verb reads: the user's own, or the committed one."""
    parser.add_argument(
        "--store",
        type=store_folder,
        default=LOCAL,
        metavar="FOLDER",
        help="folder of run records (default: your own, %(default)s)",
    )
    parser.add_argument(
        "--results",
        action="store_const",
        dest="store",
        const=COMMITTED,
        help="read the committed records and write to results/",
    )
    parser.add_argument(
        "--params",
        choices=("published", "ours"),
        help="hyperparameters of the tuned experiments: the paper's (default) or those found by "
        "our search",
    )


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help=f"where {what} go (default: the store's folder, or results/ with --results)",
    )


def output_of(args: argparse.Namespace, committed: str, local: str) -> Path:
    """Where a verb writes: as told, or in results/ for the committed store, else in the store."""
    if args.output is not None:
        return Path(args.output)
    return RESULTS / committed if args.store == COMMITTED else Path(args.store) / local


def store_folder(text: str) -> Path:
    """A folder of run records, or one to be made; not the folder around such a one."""
    folder = Path(text)
    if folder.exists() and not folder.is_dir():
        raise argparse.ArgumentTypeError(f"{folder} is a file, not a folder of run records")
    inside = [path.parent for path in sorted(folder.glob("*/environments.jsonl"))]
    if inside:
        raise argparse.ArgumentTypeError(
            f"{folder} is not a folder of run records; did you mean {inside[0]}?"
        )
    return folder


def require_store(folder: Path) -> None:
    """Refuse to read a store that is not there: a typo would look like an empty one."""
    if not folder.is_dir():
        raise UserError(
            f"there is no folder of run records at {folder}; `make reproduce` creates .runs, and "
            "--store names another folder, e.g. results/records for the committed records"
        )


def tell_problems(problems: Sequence[str]) -> None:
    """Name what is wrong with a store, the lines that were set aside above all."""
    if not problems:
        return
    print(
        f"{len(problems):,} problems in the records; lines that cannot be used were set aside:",
        file=sys.stderr,
    )
    for problem in problems[:PROBLEMS_SHOWN]:
        print(f"  {problem}", file=sys.stderr)
    if len(problems) > PROBLEMS_SHOWN:
        print(f"  and {len(problems) - PROBLEMS_SHOWN:,} more", file=sys.stderr)


def tell_superseded(store: Path, superseded: Mapping[str, Sequence[object]]) -> None:
    """Name the records and plans that no table uses, and files that nothing vouches for wholly."""
    from experiments.core.manifest import HASHES, changes
    from experiments.core.planned import replaced_jobs

    for why, some in superseded.items():
        print(f"Superseded: {len(some):,} records ({why}); no table uses them.")
    if replaced := replaced_jobs(store):
        print(f"Replaced by later plans: {len(replaced):,} planned jobs, e.g. {replaced[0]}.")
    differing = changes(store)
    if differing is not None and differing.added_to:
        names = ", ".join(differing.added_to[:FILES_SHOWN])
        print(f"Added to since {HASHES} was written: {len(differing.added_to):,} files: {names}.")


def add_plugins(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--plugin",
        action="append",
        default=[],
        metavar="MODULE",
        help="a Python module or file with more learners or datasets (repeatable)",
    )


def add_more_tables(parser: argparse.ArgumentParser) -> None:
    """For verbs that show tables: what a store holds of plug-ins is known to the store itself."""
    parser.add_argument(
        "--plugin",
        action="append",
        default=[],
        metavar="FILE.toml",
        help="a file that declares more tables, as experiments/analysis/own_tables.toml does "
        "(repeatable); plug-in learners and datasets that were run have tables without it",
    )


def more_tables(args: argparse.Namespace) -> list[Path]:
    """The files of declared tables among the plug-ins; modules need not be imported to be shown."""
    return [Path(name) for name in args.plugin if name.endswith(".toml")]


def add_selection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which jobs")
    group.add_argument(
        "--profile",
        default="paper",
        metavar="NAME",
        help="what to run, see `list profiles` (default: %(default)s); the options below narrow it",
    )
    group.add_argument("--experiment", type=words, metavar="A,B", help="only these experiments")
    group.add_argument("--protocol", type=words, metavar="A,B", help="only these protocols")
    group.add_argument(
        "--dataset", type=words, metavar="A,B", help="only these datasets, by name or slug"
    )
    group.add_argument(
        "--method", type=words, metavar="A,B", help="only these methods, e.g. cart,gradtree"
    )
    group.add_argument("--trial", type=trials, metavar="0-4,7", help="only these of the ten trials")
    group.add_argument(
        "--params",
        choices=("published", "ours"),
        help="hyperparameters of `tuned`: the paper's (default) or those found by our search",
    )
    add_plugins(group)


def add_how(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    group = parser.add_argument_group("how")
    group.add_argument(
        "--workers",
        type=whole(1),
        default=os.cpu_count() or 1,
        metavar="N",
        help="jobs that run at the same time (default: one per core, here %(default)s)",
    )
    group.add_argument(
        "--time-limit",
        type=positive,
        metavar="S",
        help="seconds per job (default: the profile's limit, else 3600)",
    )
    group.add_argument(
        "--memory-limit",
        type=positive,
        metavar="MB",
        help="resident memory per job (default: 80%% of the machine's, divided among the workers)",
    )
    group.add_argument(
        "--threads",
        type=whole(1),
        default=1,
        metavar="N",
        help="threads per job for numerical libraries (default: %(default)s)",
    )
    return group


def add_executor(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--scheduler", metavar="ADDRESS", help="run on the Dask cluster of this scheduler"
    )
    group.add_argument(
        "--inline",
        action="store_true",
        help="run the jobs in this process, without limits, for debugging",
    )
    group.add_argument(
        "--plain", action="store_true", help="print a line per job instead of the live display"
    )


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
    """``"0-4,7"`` as a list of numbers, none of them beyond the ten trials."""
    numbers: list[int] = []
    for piece in words(text):
        first, _, last = piece.partition("-")
        if not first.isdigit() or not (last or first).isdigit():
            raise argparse.ArgumentTypeError(f"{text!r} is not of the form 0-4,7")
        low, high = int(first), int(last or first)
        if low > high:
            raise argparse.ArgumentTypeError(f"{piece!r} runs backwards; write {high}-{low}")
        if high >= N_TRIALS:
            raise argparse.ArgumentTypeError(f"trials are numbered 0 to {N_TRIALS - 1}, not {high}")
        numbers += range(low, high + 1)
    if not numbers:
        raise argparse.ArgumentTypeError("no trial is named")
    return numbers
