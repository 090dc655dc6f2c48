"""``python -m experiments VERB``: the command line. Files of ``commands`` are named by verbs."""

import argparse
import errno
import importlib
import inspect
import os
import pkgutil
import sqlite3
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from experiments import commands
from experiments.commands.arguments import PLUGIN, VERBS, Parser
from experiments.errors import DONE, FAILED, MISTAKE, WORK_LEFT, UserError, did_you_mean
from experiments.text import silence

NOT_BUGS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.ENOTDIR, errno.EISDIR)
"""What a file system may say to a correct program."""
SHARED = "arguments"
"""The module among the verbs that is none."""


def verbs() -> dict[str, str]:
    """Every verb with its module, which may be one of several: ``merge_export`` has two."""
    found = {info.name for info in pkgutil.iter_modules(commands.__path__)} - {SHARED}
    return dict(sorted((verb, module) for module in found for verb in module.split("_")))


def build_parser(wanted: str | None = None) -> argparse.ArgumentParser:
    """The parser of all verbs, or of the one wanted, so that no verb pays for another's imports."""
    parser = Parser(
        prog="python -m experiments",
        description="Run the experiments of the GradTree paper and compare the results with it.",
    )
    found = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    known = verbs()
    if wanted is not None and not wanted.startswith("-") and wanted not in known:
        raise UserError(f"unknown verb {wanted!r}; {did_you_mean(wanted, known)}")
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
            from experiments.runner import registry

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
        print(
            "\nThis is a bug in the suite; please report it with the lines above.", file=sys.stderr
        )
        return FAILED


def _not_a_bug(problem: Exception) -> str | None:
    """What the disk, a damaged store or the sources of data refuse, in their words."""
    from datasets.errors import DatasetUnavailable

    if isinstance(problem, DatasetUnavailable):
        return str(problem)
    if isinstance(problem, OSError) and problem.errno in NOT_BUGS:
        return f"{problem.filename or 'the disk'}: {problem.strerror}"
    if isinstance(problem, sqlite3.DatabaseError):
        return (
            f"the store cannot be used: {problem}\nBring back runs.sqlite, or name another --store."
        )
    return None


if __name__ == "__main__":
    raise SystemExit(main())
