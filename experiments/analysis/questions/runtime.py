"""What do fits cost: seconds beside CART's and DL8.5's, and hours spent?"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis.answer import Answer, Figure, Grid
from experiments.analysis.declared import declared, paper_tables
from experiments.analysis.grids import grid, has_results, matrix, printed_grid
from experiments.analysis.pairwise import table
from experiments.analysis.printed import TASK_NAMES, TASKS, Printed
from experiments.analysis.ranks import mean_of
from experiments.analysis.runs import Runs

ORDER = 110
REFERENCES = {"cart": "CART", "dl85": "DL8.5"}
SMALL_TREES = "small-trees"
PROGRAM = {
    "gradtree-gumbel": "gradtree",
    "gradtree-gumbel-noise-free": "gradtree",
    "gradtree-annealed": "gradtree",
}
"""Variants that the authors' program trains at much the same pace as the learner itself."""


def spent(runs: Runs, printed: Printed) -> pd.DataFrame:
    """Hours per learner over all experiments, a shared run once; ours and by the printed runtimes.

    The paper prints seconds of single runs with tuned hyperparameters: a training that was
    restarted counts as many times, and what only the experiments of small trees use is not
    compared.
    """
    rows = runs.frame[runs.frame["status"] == "ok"]
    compared = set(rows.loc[~rows["experiment"].str.startswith(SMALL_TREES), "key"])
    rows = rows.drop_duplicates("key").sort_values("key")
    cells = printed.of("runtime").dropna(subset="mean")
    seconds = cells.set_index(["dataset", "method"])["mean"].to_dict()
    known = [method for name in paper_tables() for method in declared(name).methods]
    found = dict(list(rows.groupby("method")))
    lines = []
    for method in [*dict.fromkeys(known), *sorted(set(found) - set(known))]:
        own = found.get(method)
        if own is None:
            continue
        program = PROGRAM.get(method, method)
        each = own["dataset"].map(lambda slug, program=program: seconds.get((slug, program)))
        ours = own[each.notna() & own["key"].isin(compared)]
        trained = [1 + int(json.loads(text).get("restarts") or 0) for text in ours["params"]]
        line = {"method": method, "runs": len(own), "hours": _hours(own), "ours": None}
        if len(ours):
            authors = sum(s * n for s, n in zip(each[ours.index], trained, strict=True)) / 3600
            line |= {"ours": _hours(ours), "authors": authors}
        lines.append(line)
    return pd.DataFrame(lines)


def _hours(rows: pd.DataFrame) -> float:
    return float(sum(rows["cpu_seconds"].fillna(0.0))) / 3600


def ratios(runs: Runs, printed: Printed) -> pd.DataFrame:
    """Mean seconds over datasets, and as multiples of CART's and DL8.5's on the same datasets."""
    sources = {"ours": grid(runs, "runtime"), "paper": printed_grid("runtime", printed)}
    rows = []
    for task in TASKS:
        means = {name: matrix(table, task) for name, table in sources.items()}
        for method in means["ours"].columns:
            row: dict[str, Any] = {"Method": runs.name(method), "Task": TASK_NAMES[task]}
            for name, own in means.items():
                known = own[method].dropna()
                row[f"Seconds: {name}"] = mean_of(known) if len(known) else None
            for reference, words in REFERENCES.items():
                for name, own in means.items():
                    pair = own[[method, reference]] if method != reference else own[[method]]
                    both = pair.dropna()
                    mine, other = both.iloc[:, 0], both.iloc[:, -1]
                    ratio = mean_of(mine) / mean_of(other) if other.sum() else None
                    row[f"Relative to {words}: {name}"] = ratio
            rows.append(row)
    return pd.DataFrame(rows)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    timed, compute = grid(runs, "runtime"), spent(runs, printed)
    if compute.empty:
        return None
    hours = "Hours for the same runs"
    names = {"method": "Method", "runs": "runs", "hours": "hours"}
    names |= {"ours": f"{hours}: ours", "authors": f"{hours}: authors"}
    shown = compute.assign(method=compute["method"].map(runs.name))
    tables, figures = [table("compute", shown, names, "paper")], []
    if has_results(timed):
        tables.insert(0, table("runtime-ratios", ratios(runs, printed), protocol="paper"))
        figures.append(Figure("runtime-against-shape", CAPTION, lambda: _draw(runs, timed)))
    return Answer(
        "runtime",
        "How long does training take?",
        tuple(_sentences(runs, timed, compute)),
        tuple(tables),
        tuple(figures),
        shown=tuple(each.name for each in tables),
    )


def _sentences(runs: Runs, timed: Grid, compute: pd.DataFrame) -> list[str]:
    sentences = []
    seconds = matrix(timed).mean().dropna()
    if len(seconds):
        told = [f"{runs.name(m)} {seconds[m]:.2f} s" for m in seconds.sort_values().index]
        sentences.append(
            "One training without restarts, on one core and mean over the datasets a learner "
            f"finished: {', '.join(told)}."
        )
    gradtree = compute[compute["method"] == "gradtree"].dropna()
    whole = f"{compute['runs'].sum():,} fits took {compute['hours'].sum():.1f} core-hours"
    if len(gradtree):
        line = gradtree.iloc[0]
        whole += (
            f"; those of GradTree on the paper's datasets, small trees aside, took "
            f"{line['ours']:.1f}, where the paper's printed runtimes, on a machine with a GPU, "
            f"give {line['authors']:.0f}"
        )
    return [*sentences, f"{whole}."]


CAPTION = (
    "Seconds of one training without restarts against rows and features of the dataset, alone on "
    "one core; lines are least-squares power laws."
)


def _draw(runs: Runs, timed: Grid) -> Any:
    from experiments.output import figures

    with figures.look():
        figure = figures.canvas(5.6, 2.5)
        panels = figure.subplots(1, 2, sharey=True)
        means = matrix(timed)
        for axes, field, words in zip(
            panels, ("n_rows", "n_features"), ("Rows", "Features"), strict=True
        ):
            for method in means.columns:
                own = means[method].dropna().clip(lower=1e-4)
                if own.empty:
                    continue
                look = figures.mark_of(method)
                x = np.array([runs.datasets[slug][field] for slug in own.index], dtype=float)
                mark = {"s": 12, "marker": look.marker, "color": look.colour, "linewidths": 0}
                axes.scatter(x, own, alpha=0.75, label=runs.name(method), **mark)
                if len(np.unique(x)) > 2:
                    slope, offset = np.polyfit(np.log(x), np.log(own), 1)
                    ends = np.array([x.min(), x.max()])
                    line = np.exp(offset) * ends**slope
                    axes.plot(ends, line, color=look.colour, linewidth=0.9, alpha=0.6)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlabel(words)
            figures.plain_numbers(axes.xaxis, threes=True)
            figures.plain_numbers(axes.yaxis)
            figures.quiet(axes)
        panels[0].set_ylabel("Seconds")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        return figure
