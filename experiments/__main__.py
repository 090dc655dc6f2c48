"""``python -m experiments VERB``: the command line."""

from experiments.commands.arguments import build_parser, guarded, main, verbs

__all__ = ["build_parser", "guarded", "main", "verbs"]

if __name__ == "__main__":
    raise SystemExit(main())
