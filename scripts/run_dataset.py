#!/usr/bin/env python
"""Run every learner on one dataset and compare its row of each table with the paper's.

    .venv/bin/python scripts/run_dataset.py titanic
    .venv/bin/python scripts/run_dataset.py "Heart Disease" --trial 0-2

Writes tables and drawings of trees to .runs/datasets/<slug>. Jobs that are done are not repeated.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from experiments.commands import arguments  # noqa: E402 - the suite runs from here
from experiments.errors import CannotGoOnError, check_names  # noqa: E402

if TYPE_CHECKING:
    import pandas as pd

PRINTED = {
    name: name if name.startswith("ablation") else f"test-f1-{name}"
    for name in ("tuned", "default", "ablation-tuned", "ablation-default")
}
"""Experiment -> the paper's table of its test F1."""


def parsed() -> argparse.Namespace:
    parser = arguments.Parser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dataset", help="name or slug, e.g. titanic")
    text, usual = "experiments to run (default: tuned,default)", ["tuned", "default"]
    arguments.option(parser, "--experiment", text, arguments.words, "A,B", usual)
    arguments.option(parser, "--protocol", "protocol (default: paper)", default="paper")
    text = "methods (default: all of the experiment, and those of plug-ins)"
    arguments.option(parser, "--method", text, arguments.words, "A,B")
    text = "trials to run (default: all ten)"
    arguments.option(parser, "--trial", text, arguments.trials, "0-4,7", list(range(10)))
    text = "forget the runs of these methods here and make them anew"
    arguments.option(parser, "--refit", text, arguments.words, "A,B", [])
    text = "where to write tables and drawings of trees (default: .runs/datasets/<slug>)"
    arguments.option(parser, "--output", text, Path, "FOLDER")
    arguments.add_plugins(parser)
    arguments.add_store(parser)
    arguments.add_executor(arguments.add_how(parser))
    return parser.parse_args()


def main() -> int:
    from experiments.commands.run import one_session, refit_or_tell
    from experiments.commands.trees import draw_trees
    from experiments.runner import registry
    from experiments.runner.experiments import jobs_of, unique
    from experiments.runner.plan import make_plan, note_plan, render
    from experiments.runner.session import sum_up
    from experiments.runs.store import Store
    from experiments.text import say

    args = parsed()
    registry.use(args.plugin)
    check_names("experiment", args.experiment, registry.entries("experiment"))
    check_names("method", args.method, registry.learners())
    check_names("protocol", [args.protocol], registry.entries("protocol"))
    dataset = registry.resolve_dataset(args.dataset)
    require_data(dataset)
    jobs = []
    for name in args.experiment:
        own = registry.find("experiment", name).methods_under(args.protocol)
        methods = args.method or list(dict.fromkeys([*own, *registry.from_plugins("learner")]))
        jobs += jobs_of(name, args.protocol, [dataset], methods, args.trial, store=args.store)
    store, limits = Store(args.store), arguments.limits_of(args, 3600.0)
    note_plan(store, jobs, refit_or_tell(store, jobs, args.refit))
    say(render(make_plan(unique(jobs), store.statuses(), limits), args.workers))
    summary = one_session(args, dataset, unique(jobs), 3600.0)
    folder = args.output or args.store / "datasets" / dataset
    folder.mkdir(parents=True, exist_ok=True)
    for name in args.experiment:
        found = compared(args.store, args.protocol, name, dataset, set(args.trial))
        found.to_csv(folder / f"{name}.csv", index=False)
        say(f"\n{registry.facts(dataset).name}, {name}, test F1 (protocol {args.protocol}):")
        say(found.to_string(index=False, float_format="{:.3f}".format, na_rep="–"))
    if not summary.interrupted:
        draw_trees(folder, jobs, store)
    say(f"\nTables and trees are in {folder}.")
    return sum_up(unique(jobs), store, limits, summary)


def require_data(dataset: str) -> None:
    """Without the data there is nothing to do but to say how to get it."""
    from datasets.errors import DatasetUnavailable
    from experiments.runner.registry import load_dataset
    from experiments.text import program

    try:
        load_dataset(dataset)
    except DatasetUnavailable as problem:
        raise CannotGoOnError(f"{problem}\nGet it with: {program()} data {dataset}") from None


def compared(
    store: Path, protocol: str, experiment: str, dataset: str, trials: set[int]
) -> pd.DataFrame:
    """Mean and deviation of every learner's test F1 over trials, beside the paper's."""
    import pandas as pd

    from experiments.analysis.printed import printed
    from experiments.analysis.runs import load

    runs = load(store)
    rows = runs.of(protocol, experiment)
    rows = rows[(rows["dataset"] == dataset) & rows["trial"].isin(trials)]
    cells = printed().of(PRINTED.get(experiment, "")).set_index(["dataset", "method"])
    lines = []
    for method, some in rows.groupby("method", sort=False):
        scores = some["test_f1"].dropna()
        line = {
            "method": runs.name(str(method)),
            "mean": scores.mean(),
            "std": scores.std(ddof=0),
            "trials": len(scores),
            "without a score": "; ".join(sorted(set(some["reason"]) - {""})),
        }
        if (dataset, method) in cells.index:
            line |= {
                f"paper's {name}": cells.loc[(dataset, method), name] for name in ("mean", "std")
            }
        lines.append(line)
    return pd.DataFrame(lines).fillna({"without a score": ""})


if __name__ == "__main__":
    from experiments.__main__ import guarded

    raise SystemExit(guarded(main))
