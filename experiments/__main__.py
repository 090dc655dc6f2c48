"""``python -m experiments VERB``: the command line, with one module of ``commands`` per verb."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import traceback
from collections.abc import Callable, Sequence

from experiments import commands
from experiments.core.errors import EXIT_DONE, EXIT_FAILED, UserError
from experiments.core.text import silence, speak_plainly

ISSUES = "the issue tracker of this repository, with the lines above"


def build_parser(wanted: str | None = None) -> argparse.ArgumentParser:
    """The parser of all verbs, or of the one wanted, so that no verb pays for another's imports."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Run the experiments of the GradTree paper and compare the outcome with it.",
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    names = sorted(info.name for info in pkgutil.iter_modules(commands.__path__))
    for name in [wanted] if wanted in names else names:
        module = importlib.import_module(f"{commands.__name__}.{name}")
        if hasattr(module, "register"):
            module.register(verbs)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; its ``run(args)`` returns the exit status (0 done, 1 failed, 3 incomplete)."""
    speak_plainly()
    words = list(sys.argv[1:] if argv is None else argv)
    args = build_parser(words[0] if words else None).parse_args(words)
    return guarded(lambda: args.run(args))


def guarded(work: Callable[[], int]) -> int:
    """Do something; a user's mistake ends in a sentence, a bug in a traceback."""
    try:
        return int(work())
    except UserError as mistake:
        print(mistake, file=sys.stderr)
        return mistake.status
    except BrokenPipeError:
        silence()
        return EXIT_DONE
    except Exception:
        traceback.print_exc()
        print(f"\nThis is a bug of the suite; please report it at {ISSUES}", file=sys.stderr)
        return EXIT_FAILED


if __name__ == "__main__":
    raise SystemExit(main())
