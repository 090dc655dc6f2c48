"""``measure``: a table of any other metric, from stored predictions and without a fit."""

from __future__ import annotations

import argparse
import ast
from typing import Any

from experiments.analysis.runs import load
from experiments.commands.arguments import COMMITTED, SOURCE, option, verb
from experiments.errors import DONE, WORK_LEFT, UserError, did_you_mean
from experiments.output import files, formats, metrics
from experiments.runner import registry
from experiments.text import program, table


@verb(
    "measure",
    option("metric", "a function of sklearn.metrics, or ours", metavar="METRIC"),
    option("options", "its keyword arguments", metavar="NAME=VALUE", nargs="*"),
    option("--experiment", "default: tuned", default="tuned"),
    option("--protocol", "default: paper", default="paper"),
    SOURCE,
)
def run(args: argparse.Namespace) -> int:
    """Make a table of another metric from stored predictions.

    Score stored test predictions by a scikit-learn metric of classes or probabilities, e.g.
    `measure matthews_corrcoef` or `measure f1_score average=weighted`, by a metric of a plug-in, or
    show any score of the table of runs. Macro averages and one against the rest are taken where a
    metric offers several. Exit status: 0 all successful runs are scored, 3 some are not, with the
    reasons.
    """
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
    own = f" --store {args.store}"
    if runs.store.resolve() == COMMITTED:
        own = ""
        print(f"  {program()} merge {args.store}   # into a store of your own first")
    place = f"--experiment {args.experiment} --protocol {args.protocol}"
    print(f"  {program()} run --fill-predictions {place}{own}")
    return WORK_LEFT


def keywords(options: list[str]) -> dict[str, Any]:
    """``average=weighted`` as keyword arguments; values are Python's, or plain words."""
    found = {}
    for text in options:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise UserError(f"{text!r} is not of the form NAME=VALUE")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found
