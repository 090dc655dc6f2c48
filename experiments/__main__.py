"""``python -m experiments VERB``: the command line, with one module of ``commands`` per verb."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from collections.abc import Sequence

from experiments import commands


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Run the experiments of the GradTree paper and compare the outcome with it.",
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name in sorted(info.name for info in pkgutil.iter_modules(commands.__path__)):
        module = importlib.import_module(f"{commands.__name__}.{name}")
        if hasattr(module, "register"):
            module.register(verbs)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; its ``run(args)`` returns the exit status (0 done, 1 failed, 3 incomplete)."""
    args = build_parser().parse_args(argv)
    return int(args.run(args))


if __name__ == "__main__":
    raise SystemExit(main())
