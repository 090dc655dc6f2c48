#!/usr/bin/env python
"""Run every learner on one dataset and compare its row of each table with the paper's.

    .venv/bin/python scripts/run_dataset.py titanic
    .venv/bin/python scripts/run_dataset.py "Heart Disease" --trial 0-2

Writes tables and drawings of trees to .runs/datasets/<slug>. Jobs that are
done are not repeated.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from experiments.commands import arguments, selection  # noqa: E402 - the suite runs from here

TIME_LIMIT = 3600.0


def parsed() -> argparse.Namespace:
    description = (__doc__ or "").splitlines()[0]
    parser = arguments.Parser(description=description)
    parser.add_argument("dataset", help="name or slug, e.g. titanic")
    parser.add_argument(
        "--experiment",
        type=arguments.words,
        default=["tuned", "default"],
        metavar="A,B",
        help="experiments to run (default: tuned,default)",
    )
    parser.add_argument(
        "--protocol", default="paper", metavar="NAME", help="protocol to use (default: paper)"
    )
    parser.add_argument(
        "--method",
        type=arguments.words,
        metavar="A,B",
        help="methods to run (default: all of the experiment)",
    )
    parser.add_argument(
        "--trial",
        type=arguments.trials,
        default=list(range(10)),
        metavar="0-4,7",
        help="trials to run (default: all ten)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="where to write tables and drawings of trees (default: .runs/datasets/<slug>)",
    )
    arguments.add_plugins(parser)
    arguments.add_store(parser)
    arguments.add_executor(arguments.add_how(parser))
    return parser.parse_args()


def main() -> int:
    from experiments.analysis import table_set
    from experiments.commands.trees import draw_trees
    from experiments.core.files import locked
    from experiments.core.planned import read_datasets, read_learners
    from experiments.core.store import Store
    from experiments.core.text import say
    from experiments.render.files import write_comparisons
    from experiments.render.wording import comparison_text
    from experiments.runner import plugins
    from experiments.runner.catalogue import EXPERIMENTS, jobs_of
    from experiments.runner.plan import make_plan, note_plan, render_jobs
    from experiments.runner.profiles import with_plugins
    from experiments.runner.progress import Progress
    from experiments.runner.queue import Queue
    from experiments.runner.session import SessionSummary, drive, limits_of, sum_up

    args = parsed()
    plugins.use(args.plugin)
    selection.check("experiment", args.experiment, list(EXPERIMENTS))
    selection.check("method", args.method, plugins.method_slugs())
    selection.check("protocol", [args.protocol], plugins.protocols())
    (dataset,) = selection.dataset_slugs([args.dataset])
    jobs = [
        job
        for experiment in args.experiment
        for job in jobs_of(
            experiment,
            args.protocol,
            [dataset],
            args.method or with_plugins(experiment, args.protocol),
            args.trial,
        )
    ]
    store, limits = Store(args.store), limits_of(args, TIME_LIMIT)
    with locked(args.store):
        note_plan(store, jobs)
        plan = make_plan(list({job.key: job for job in jobs}.values()), store, limits, args.workers)
        say(render_jobs(plan))
        summary = SessionSummary()
        if plan.pending:
            queue = Queue(plan.pending, harmless=plan.harmless())
            progress = Progress(plan.pending, plan.estimates, args.workers)
            summary = drive(args, queue, progress, limits, dataset)

    records = store.latest()
    facts = read_datasets(args.store), read_learners(args.store)
    comparisons = table_set.compare(dataset, args.protocol, jobs, records, *facts)
    for comparison in comparisons:
        say(f"\n{comparison_text(comparison)}")
    folder = args.output or args.store / "datasets" / dataset
    write_comparisons(folder, comparisons)
    if not summary.interrupted:
        draw_trees(folder, jobs, records, args.store)
    say(f"\nTables and trees are in {folder}.")
    return sum_up(plan.jobs, store, limits, summary)


if __name__ == "__main__":
    from experiments.__main__ import guarded

    raise SystemExit(guarded(main))
