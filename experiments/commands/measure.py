"""``measure``: a table of any other metric, from stored predictions and without a fit."""

from __future__ import annotations

import argparse
import ast
import inspect
from collections.abc import Mapping
from typing import Any

from experiments.commands import arguments, selection
from experiments.core.checks import EXIT_DONE, EXIT_INCOMPLETE, UserError


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "measure",
        help="write a table of another metric from stored predictions",
        description=(
            "Score stored test predictions by any scikit-learn metric that takes true and "
            "predicted labels, e.g. `measure matthews_corrcoef` or `measure f1_score "
            "average=weighted`. Prints the table and writes it as CSV and LaTeX. Runs no learner; "
            "runs without stored predictions are gaps. Exit status: 0 all successful runs have "
            "predictions, 3 some do not."
        ),
    )
    parser.add_argument("metric", metavar="METRIC", help="a function of sklearn.metrics")
    parser.add_argument("options", nargs="*", metavar="NAME=VALUE", help="its keyword arguments")
    parser.add_argument("--experiment", default="tuned", metavar="NAME", help="default: tuned")
    parser.add_argument("--protocol", default="paper", metavar="NAME", help="default: paper")
    arguments.add_source(parser)
    arguments.add_output(parser, "the CSV and LaTeX files")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.analysis.findings import in_order
    from experiments.analysis.grids import collect
    from experiments.analysis.own_tables import metric_table
    from experiments.analysis.paper import load_paper
    from experiments.core import planned, predictions
    from experiments.core.files import write_files
    from experiments.core.store import Store, resolve
    from experiments.render import csvfiles, latex
    from experiments.render.wording import table_text
    from experiments.runner.session import program

    arguments.require_store(args.store)
    given = keywords(args.options)
    check_metric(args.metric, given)
    jobs = in_order(planned.read_plan(args.store), args.params, load_paper())
    known = {f"{job.protocol}/{job.experiment}" for job in jobs}
    wanted = f"{args.protocol}/{args.experiment}"
    if wanted not in known:
        raise UserError(f"{args.store} has no {wanted}; it has {', '.join(sorted(known))}")
    contents = Store(args.store).contents()
    arguments.tell_problems(contents.problems)
    results = collect(
        (job for job in jobs if f"{job.protocol}/{job.experiment}" == wanted),
        resolve(contents.history),
    )
    table = metric_table(
        args.metric,
        given,
        (args.protocol, args.experiment),
        lambda record: predictions.classes(args.store, record),
        results,
        planned.read_datasets(args.store),
        planned.read_learners(args.store),
    )
    print(table_text(table))
    cells = [cell for block in table.blocks for row in block.rows for cell in row.cells]
    ok = sum(
        attempt.record is not None and attempt.record.status == "ok"
        for attempts in results.attempts.values()
        for attempt in attempts
    )
    scored = sum(cell.n for cell in cells)
    if scored < ok:
        print(f"\n{ok - scored:,} of {ok:,} successful runs have no predictions in {args.store}.")
        print("To fit those again and keep predictions that repeat the recorded scores:")
        print(
            f"  {program()} run --fill-predictions --store {args.store} "
            f"--experiment {args.experiment} --protocol {args.protocol}"
        )
    output = arguments.output_of(args, "tables/metrics", "metrics")
    files = {
        f"{args.protocol}/{table.name}.csv": csvfiles.table_csv(table),
        f"{args.protocol}/{table.name}.tex": latex.table_latex(table),
    }
    write_files(output, files)
    print(f"\n{output}: {len(files)} files")
    return EXIT_INCOMPLETE if scored < ok else EXIT_DONE


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


def check_metric(name: str, options: Mapping[str, Any]) -> None:
    """Refuse what is no metric of labels, or does not take these options."""
    import numpy as np
    from sklearn import metrics

    score = getattr(metrics, name, None)
    if name.startswith("_") or not callable(score) or inspect.isclass(score):
        close = [known for known in dir(metrics) if known.endswith("score")]
        selection.check("metric", [name], close)
    truth = np.array([0, 1, 2, 1])
    try:
        float(score(truth, truth, **options))  # type: ignore[misc]
    except Exception as problem:
        raise UserError(
            f"{name} does not score true and predicted labels as one number: {problem}"
        ) from None
