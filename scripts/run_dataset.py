#!/usr/bin/env python
"""Run every learner on one dataset and compare its row of each table with the paper's.

    .venv/bin/python scripts/run_dataset.py titanic
    .venv/bin/python scripts/run_dataset.py "Heart Disease" --trial 0-2

Writes tables and drawings of trees to .runs/datasets/<slug>. Jobs that are done are not repeated.
"""

from __future__ import annotations

import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

import pandas as pd  # noqa: E402 - the suite runs from here

from datasets.errors import DatasetUnavailable  # noqa: E402
from experiments.__main__ import guarded  # noqa: E402
from experiments.analysis.printed import printed  # noqa: E402
from experiments.analysis.runs import load  # noqa: E402
from experiments.commands import arguments  # noqa: E402
from experiments.commands.arguments import option, words  # noqa: E402
from experiments.commands.run_search import REFIT, run_jobs  # noqa: E402
from experiments.commands.trees import draw_trees  # noqa: E402
from experiments.errors import CannotGoOnError  # noqa: E402
from experiments.runner import registry  # noqa: E402
from experiments.runner.experiments import jobs_of  # noqa: E402
from experiments.runs.schema import BY_NAME  # noqa: E402
from experiments.runs.store import Store  # noqa: E402
from experiments.text import program, say  # noqa: E402

PRINTED = {
    name: name if name.startswith("ablation") else f"test-f1-{name}"
    for name in ("tuned", "default", "ablation-tuned", "ablation-default")
}
"""Experiment -> the paper's table of its test F1."""
OPTIONS = (
    option("dataset", "name or slug, e.g. titanic", metavar="DATASET"),
    option("--experiment", "default: tuned,default; of numbers regression", words, "A,B"),
    option("--protocol", "protocol (default: paper; of numbers clean)"),
    option("--method", "default: all of the experiment, and those of plug-ins", words, "A,B"),
    option("--trial", "default: all ten", arguments.trials, "0-4,7", list(range(10))),
    option("--output", "where to write (default: .runs/datasets/<slug>)", Path, "FOLDER"),
    REFIT,
    arguments.PLUGIN,
    arguments.STORE,
    arguments.group("how", *arguments.HOW),
)


def main() -> int:
    parser = arguments.Parser(description=(__doc__ or "").splitlines()[0])
    for add in OPTIONS:
        add(parser)
    args = parser.parse_args()
    registry.use(args.plugin)
    dataset = registry.resolve_dataset(args.dataset)
    numbers = registry.facts(dataset).task == "regression"
    args.protocol = args.protocol or ("clean" if numbers else "paper")
    args.experiment = args.experiment or (["regression"] if numbers else ["tuned", "default"])
    arguments.check(experiment=args.experiment, method=args.method, protocol=[args.protocol])
    try:
        registry.load_dataset(dataset)
    except DatasetUnavailable as problem:
        raise CannotGoOnError(f"{problem}\nGet it with: {program()} data {dataset}") from None
    jobs = []
    for name in args.experiment:
        own = registry.find("experiment", name).methods_under(args.protocol)
        methods = args.method or list(dict.fromkeys([*own, *registry.from_plugins("learner")]))
        jobs += jobs_of(name, args.protocol, [dataset], methods, args.trial, store=args.store)
    status, whole = run_jobs(args, jobs)
    folder = args.output or args.store / "datasets" / dataset
    folder.mkdir(parents=True, exist_ok=True)
    metric = BY_NAME["test_r2" if numbers else "test_f1"]
    for name in args.experiment:
        found = compared(args.store, args.protocol, name, dataset, set(args.trial), metric.name)
        found.to_csv(folder / f"{name}.csv", index=False)
        title = f"{registry.facts(dataset).name}, {name}, {metric.in_tables}"
        say(f"\n{title} (protocol {args.protocol}):")
        say(found.to_string(index=False, float_format="{:.3f}".format, na_rep="–"))
    if whole:
        draw_trees(folder, jobs, Store(args.store))
    say(f"\nTables and trees are in {folder}.")
    return status


def compared(
    store: Path, protocol: str, experiment: str, dataset: str, trials: set[int], metric: str
) -> pd.DataFrame:
    """Mean and deviation of every learner's score over trials, beside the paper's."""
    runs = load(store)
    rows = runs.of(protocol, experiment).query("dataset == @dataset and trial in @trials")
    found = rows.groupby("method", sort=False).agg(
        mean=(metric, lambda scores: scores.mean()),
        std=(metric, lambda scores: scores.std(ddof=0)),
        trials=(metric, "count"),
        reasons=("reason", lambda reasons: "; ".join(sorted(set(reasons) - {""}))),
    )
    cells = printed().of(PRINTED.get(experiment, "")).query("dataset == @dataset")
    if len(cells):
        found = found.join(cells.set_index("method")[["mean", "std"]].add_prefix("paper's "))
    found = found.rename(index=runs.name, columns={"reasons": "without a score"})
    return found.rename_axis("method").reset_index()


if __name__ == "__main__":
    raise SystemExit(guarded(main))
