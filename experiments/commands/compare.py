"""``compare``: the learners and datasets of a file of yours beside the committed runs."""

import argparse
from dataclasses import replace
from html import escape
from pathlib import Path

import pandas as pd

from baselines.contract import NUMBERS
from experiments.analysis.answer import Answer, Table
from experiments.analysis.pairwise import EXPERIMENT, compare
from experiments.analysis.runs import load
from experiments.commands import arguments
from experiments.commands.arguments import COMMITTED, option, verb, words
from experiments.commands.run_search import REFIT, run_jobs
from experiments.errors import DONE, UserError
from experiments.output import files, formats, latex, metrics, readme
from experiments.runner import registry
from experiments.runner.experiments import jobs_of, paper_datasets
from experiments.runs import archive
from experiments.text import say

FEW_ROWS, SCORES, AGAINST = 1000, ["test_f1", "test_roc_auc"], ["cart", "cart-pruned", "gradtree"]
OF_NUMBERS = ["cart-regression", "cart-pruned-regression", "gradtree-regression"]
"""The others, where the plug-in's learners are of numbers."""
STYLE = "<style>body{font:16px sans-serif;margin:2em}td{padding:.2em .6em}</style>"


@verb(
    "compare",
    option("file", "the plug-in; see experiments/README.md", metavar="FILE.py"),
    option("--dataset", f"default: the paper's under {FEW_ROWS} rows, yours", words, "A,B"),
    option("--protocol", "default: clean", default="clean"),
    option("--trial", "default: 0-9", arguments.trials, "0-4,7", list(range(10))),
    option("--metric", f"default: {','.join(SCORES)}; of numbers test_r2", words, "A,B"),
    option("--reference", "whom to test against (default: cart; of numbers cart-regression)"),
    option("--against", f"default: {','.join(AGAINST)}; those of numbers", words, "A,B"),
    REFIT,
    arguments.STORE,
    arguments.group("how", *arguments.HOW),
)
def run(args: argparse.Namespace) -> int:
    """Compare your learner with ours, on our datasets and yours.

    Run a plug-in's learners with default hyperparameters, and write a table, a figure and a
    paragraph of them beside others, whose committed runs are used. Metrics are those of `list
    metrics`, the plug-in's own and scikit-learn's; for the latter two, runs without committed
    probabilities are made anew. See `run`.
    """
    registry.use([args.file])
    learners, own = registry.from_plugins("learner"), registry.from_plugins("dataset")
    numbers = bool(learners) and all(each.tasks == NUMBERS for each in learners.values())
    experiment, usual = ("regression", OF_NUMBERS) if numbers else (EXPERIMENT, AGAINST)
    others = list(dict.fromkeys([args.reference or usual[0], *(args.against or usual)]))
    arguments.check(method=others, protocol=[args.protocol])
    mine = [slug for slug in learners if slug not in others]
    if not (own or learners) or len([*mine, *others]) == 1:
        raise UserError(f"{args.file} offers no learner or dataset to compare {others[0]} on")
    offered = registry.from_plugins("metric")
    asked = args.metric or (["test_r2"] if numbers else SCORES)
    wanted = [metrics.find(name, {}, offered) for name in asked]
    every = registry.entries("dataset")
    ours = [slug for slug in every if every[slug].task in NUMBERS] if numbers else paper_datasets()
    few = [slug for slug in ours if every[slug].n_rows < FEW_ROWS]
    chosen = arguments.datasets(args.dataset) or [*few, *own]
    jobs = jobs_of(experiment, args.protocol, chosen, [*mine, *others], args.trial)
    done = load().of(args.protocol, experiment).query("status != ''")
    kept = "committed"
    if any(metric.score for metric in wanted):
        kept, found = "committed with probabilities", archive.read_predictions(COMMITTED).items()
        done = done[done["key"].isin([key for key, one in found if one.proba is not None])]
    keys = set(done["key"])
    todo = [job for job in jobs if job.key not in keys]
    say(f"{len(jobs) - len(todo):,} of {len(jobs):,} runs are {kept}.\n")
    status, whole = run_jobs(args, todo) if todo else (DONE, True)
    if whole:
        store = args.store if todo else COMMITTED
        known = load(store)
        frame = pd.concat([done, known.of(args.protocol, experiment)], ignore_index=True)
        frame = frame.drop_duplicates("key")
        runs = replace(known, frame=frame[frame["key"].isin([job.key for job in jobs])])
        for metric in wanted:
            frame, why = metrics.scored(runs, runs.frame, metric, [store, COMMITTED])
            runs = replace(runs, frame=frame)
            for reason, count in why.items():
                say(f"{count:,} runs have no {metric.name}: {reason}.")
        write(compare(runs, args.protocol, mine, others, wanted, experiment), args.store)
    return status


def write(answer: Answer, store: Path) -> None:
    """Markdown for the terminal; CSV, LaTeX, HTML and the figure for the store's folder."""
    from experiments.analysis.drawing import inline_svg

    (table,), (figure,) = answer.tables, answer.figures
    assert isinstance(table, Table)
    shown, drawing, folder = formats.shown(table), figure.draw(), store / table.name
    told, caption = " ".join(answer.sentences), f"{table.caption} (protocol {table.protocol})."
    say("\n\n".join([f"\n## {answer.title}", told, readme.markdown(shown), caption]))
    rows = [[cell.text for cell in line.cells] for line in shown.lines]
    cells, title = pd.DataFrame(rows, columns=shown.headers), escape(answer.title)
    page = f"<!doctype html><meta charset=utf-8><title>{title}</title>{STYLE}<h1>{title}</h1>"
    page += f"<p>{escape(told)}</p>{cells.to_html(index=False, border=0)}"
    page += f"<p>{escape(caption)}</p>{inline_svg(figure)}\n"
    made = {".csv": files.csv_text(table.frame), ".tex": latex.table_latex(table), ".html": page}
    made["-datasets.csv"] = files.csv_text(answer.extra["scores"])
    files.write(folder, {f"{table.name}{kind}": text for kind, text in made.items()}, keep=True)
    files.save(drawing, folder / table.name)
    say(f"\nAs CSV, LaTeX and HTML, with the figure: {folder}")
