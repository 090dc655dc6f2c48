"""``measure``: a table of any other metric, from stored predictions and without a fit."""

from __future__ import annotations

import argparse
import ast
from typing import Any

from experiments.commands import arguments
from experiments.errors import DONE, WORK_LEFT, UserError, did_you_mean


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "measure",
        help="a table of another metric from stored predictions",
        description=(
            "Score stored test predictions by a scikit-learn metric of classes or probabilities, "
            "e.g. `measure matthews_corrcoef` or `measure f1_score average=weighted`, by a metric "
            "of a plug-in, or show any score of the table of runs. Macro averages and one against "
            "the rest are taken where a metric offers several. Exit status: 0 all successful runs "
            "are scored, 3 some are not, with the reasons."
        ),
    )
    parser.add_argument("metric", metavar="METRIC", help="a function of sklearn.metrics, or ours")
    parser.add_argument("options", nargs="*", metavar="NAME=VALUE", help="its keyword arguments")
    parser.add_argument("--experiment", default="tuned", metavar="NAME", help="default: tuned")
    parser.add_argument("--protocol", default="paper", metavar="NAME", help="default: paper")
    arguments.add_source(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.analysis.runs import load
    from experiments.output import files, formats, metrics
    from experiments.runs.archive import COMMITTED
    from experiments.text import program, table

    plugins: dict[str, Any] = {}
    if args.plugin:
        from experiments.runner import registry

        plugins = registry.from_plugins("metric")
    metric = metrics.find(args.metric, keywords(args.options), plugins)
    runs = load(args.store, args.params or "published")
    if (args.protocol, args.experiment) not in runs.places:
        known = [f"{p}/{e}" for p, e in runs.places]
        wanted = f"{args.protocol}/{args.experiment}"
        raise UserError(f"{args.store} has no {wanted}; {did_you_mean(wanted, known)}")
    grid, missing = metrics.measure(runs, metric, args.protocol, args.experiment)
    shown = formats.shown_grid(grid, runs)
    rows = [[cell.text + cell.mark for cell in line.cells] for line in shown.lines]
    width = len(shown.headers)
    print(table(shown.headers, [[*row, *[""] * (width - len(row))] for row in rows]))
    if args.output is not None:
        made = files.grid_files(grid, runs)
        files.write(args.output, made, keep=True)
        print(f"{args.output}: {len(made)} files")
    if not missing:
        return DONE
    print(f"\n{sum(missing.values()):,} runs have no score:")
    print("".join(f"  {count:,}: {reason}\n" for reason, count in missing.items()), end="")
    print("To fit runs again and keep predictions that repeat the recorded scores:")
    if runs.store.resolve() == COMMITTED:
        print(f"  {program()} merge {args.store}   # into a store of your own first")
    own = "" if runs.store.resolve() == COMMITTED else f" --store {args.store}"
    place = f"--experiment {args.experiment} --protocol {args.protocol}"
    print(f"  {program()} run --fill-predictions {place}{own}")
    return WORK_LEFT


def keywords(options: list[str]) -> dict[str, Any]:
    """``average=weighted`` as keyword arguments; values are Python's, or plain words."""
    found = {}
    for option in options:
        name, equals, text = option.partition("=")
        if not equals or not name.isidentifier():
            raise UserError(f"{option!r} is not of the form NAME=VALUE")
        try:
            found[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            found[name] = text
    return found
