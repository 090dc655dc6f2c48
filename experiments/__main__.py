"""``python -m experiments VERB``: the command line, with one module of ``commands`` per verb."""

from __future__ import annotations

import argparse
import errno
import importlib
import pkgutil
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from experiments import commands
from experiments.commands.arguments import Parser
from experiments.core.checks import EXIT_DONE, EXIT_FAILED, EXIT_INCOMPLETE, EXIT_USAGE, UserError
from experiments.core.text import silence, speak_plainly

ISSUES = "the issue tracker of this repository, with the lines above"
NOT_BUGS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.ENOTDIR, errno.EISDIR)
"""What a file system may say to a correct program."""


def build_parser(wanted: str | None = None) -> argparse.ArgumentParser:
    """The parser of all verbs, or of the one wanted, so that no verb pays for another's imports."""
    parser = Parser(
        prog="python -m experiments",
        description="Run the experiments of the GradTree paper and compare the results with it.",
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    names = sorted(info.name for info in pkgutil.iter_modules(commands.__path__))
    if wanted not in names or not _registered(verbs, [wanted]):
        _registered(verbs, names)
    return parser


def _registered(verbs: Any, names: Sequence[str]) -> bool:
    """Whether any of these modules is a verb; the others are what verbs share."""
    modules = [importlib.import_module(f"{commands.__name__}.{name}") for name in names]
    found = [module for module in modules if hasattr(module, "register")]
    for module in found:
        module.register(verbs)
    return bool(found)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit status; ``core.checks`` lists what they mean."""
    speak_plainly()
    words = list(sys.argv[1:] if argv is None else argv)

    def work() -> int:
        args, unknown = build_parser(words[0] if words else None).parse_known_args(words)
        if unknown:
            raise UserError(
                f"unknown arguments: {' '.join(unknown)}\n"
                f"See: python -m experiments {args.verb} --help"
            )
        return int(args.run(args))

    return guarded(work)


def guarded(work: Callable[[], int]) -> int:
    """Do something; a user's mistake ends in a sentence, a bug in a traceback."""
    try:
        return int(work())
    except UserError as mistake:
        print(mistake, file=sys.stderr)
        return mistake.status
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return EXIT_INCOMPLETE
    except BrokenPipeError:
        silence()
        return EXIT_DONE
    except Exception as problem:
        told = _not_a_bug(problem)
        if told:
            print(told, file=sys.stderr)
            return EXIT_USAGE
        traceback.print_exc()
        print(f"\nThis is a bug in the suite; please report it in {ISSUES}", file=sys.stderr)
        return EXIT_FAILED


def _not_a_bug(problem: Exception) -> str | None:
    """What the disk or the sources of data refuse, in their words."""
    from datasets.errors import DatasetUnavailable

    if isinstance(problem, DatasetUnavailable):
        return str(problem)
    if isinstance(problem, OSError) and problem.errno in NOT_BUGS:
        return f"{problem.filename or 'the disk'}: {problem.strerror}"
    return None


if __name__ == "__main__":
    raise SystemExit(main())
