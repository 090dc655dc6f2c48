"""``compare``: the learners and datasets of a file of yours beside the committed runs."""

from __future__ import annotations

import argparse
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.commands import arguments
from experiments.errors import UserError, check_names
from experiments.runs.schema import METRICS
from experiments.runs.store import Store
from experiments.text import say

if TYPE_CHECKING:
    from experiments.analysis.answer import Answer

FEW_ROWS, SCORES, AGAINST = 1000, ["test_f1", "test_roc_auc"], ["cart", "cart-pruned", "gradtree"]
STYLE = "<style>body{font:16px sans-serif;margin:2em}td{padding:.2em .6em}</style>"


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "compare",
        help="your learner against ours, on our datasets and yours",
        description="Run a plug-in's learners with default hyperparameters, and write a table, a "
        "figure and a paragraph of them beside others, whose committed runs are used. See `run`.",
    )
    parser.add_argument("file", metavar="FILE.py", help="the plug-in; see experiments/README.md")
    option, words = arguments.option, arguments.words
    option(parser, "--dataset", f"default: the paper's under {FEW_ROWS} rows, yours", words, "A,B")
    option(parser, "--protocol", "default: clean", default="clean")
    option(parser, "--trial", "default: 0-9", arguments.trials, "0-4,7", list(range(10)))
    option(parser, "--metric", f"default: {','.join(SCORES)}", words, "A,B", SCORES)
    option(parser, "--reference", "whom to test against (default: cart)", default="cart")
    option(parser, "--against", f"default: {','.join(AGAINST)}", words, "A,B", AGAINST)
    option(parser, "--refit", "make the runs of these anew", words, "A,B", [])
    arguments.add_store(parser)
    arguments.add_executor(arguments.add_how(parser))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.analysis.pairwise import EXPERIMENT, compare, gathered
    from experiments.analysis.runs import load
    from experiments.commands.run import one_session, refit_or_tell
    from experiments.runner import registry
    from experiments.runner.experiments import jobs_of, paper_datasets
    from experiments.runner.plan import make_plan, note_plan, render
    from experiments.runner.session import sum_up

    registry.use([args.file])
    check_names("method", [args.reference, *args.against], registry.learners())
    check_names("protocol", [args.protocol], registry.entries("protocol"))
    check_names("metric", args.metric, METRICS)
    others = list(dict.fromkeys([args.reference, *args.against]))
    mine = [slug for slug in registry.from_plugins("learner") if slug not in others]
    own = registry.from_plugins("dataset")
    if not (own or registry.from_plugins("learner")) or len([*mine, *others]) == 1:
        raise UserError(f"{args.file} offers no learner or dataset to compare {others[0]} on")
    few = [slug for slug in paper_datasets() if registry.facts(slug).n_rows < FEW_ROWS]
    chosen = arguments.datasets(args.dataset) or [*few, *own]
    jobs = jobs_of(EXPERIMENT, args.protocol, chosen, [*mine, *others], args.trial)
    done = load().of(args.protocol, EXPERIMENT).query("status != ''")
    keys = set(done["key"])
    todo = [job for job in jobs if job.key not in keys]
    store, limits = Store(args.store), arguments.limits_of(args, 3600.0)
    note_plan(store, todo, refit_or_tell(store, todo, args.refit))
    plan = render(make_plan(todo, store.statuses(), limits), args.workers)
    say(f"{len(jobs) - len(todo):,} of {len(jobs):,} runs are committed.\n\n{plan}")
    status = sum_up(todo, store, limits, summary := one_session(args, "compare", todo, 3600.0))
    if not summary.interrupted:
        runs = gathered(args.store, done, args.protocol, {job.key for job in jobs})
        write(compare(runs, args.protocol, mine, others, args.metric), args.store)
    return status


def write(answer: Answer, store: Path) -> None:
    """Markdown for the terminal; CSV, LaTeX, HTML and the figure for the store's folder."""
    from experiments.analysis.answer import Table
    from experiments.output import figures, files, formats, latex, readme
    from experiments.output.report.svg import inline_svg

    (table,), (figure,) = answer.tables, answer.figures
    assert isinstance(table, Table)
    shown, drawing, folder = formats.shown(table), figure.draw(), store / table.name
    told, caption = " ".join(answer.sentences), f"{table.caption} (protocol {table.protocol})."
    say("\n\n".join([f"\n## {answer.title}", told, readme.markdown(shown), caption]))
    rows = [shown.headers, *([cell.text for cell in line.cells] for line in shown.lines)]
    cells = ["".join(f"<td>{escape(text)}</td>" for text in row) for row in rows]
    title, svg = escape(answer.title), inline_svg(drawing, table.name, figure.caption)
    page = f"<!doctype html><meta charset=utf-8><title>{title}</title>{STYLE}<h1>{title}</h1>"
    page += f"<p>{escape(told)}</p><table><tr>{'</tr><tr>'.join(cells)}</tr></table>"
    page += f"<p>{escape(caption)}</p>{svg}\n"
    made = {"csv": files.csv_text(table.frame), "tex": latex.table_latex(table), "html": page}
    files.write(folder, {f"{table.name}.{kind}": text for kind, text in made.items()}, keep=True)
    figures.save(drawing, folder / table.name)
    say(f"\nAs CSV, LaTeX and HTML, with the figure: {folder}")
