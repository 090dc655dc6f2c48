"""What do fits cost: seconds beside CART's and DL8.5's, and hours spent?"""

from __future__ import annotations

import json
import math
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis.answer import Answer, Grid, figure, table
from experiments.analysis.grids import declarations, grid, has_results, matrix, printed_grid
from experiments.analysis.printed import TASK_NAMES, TASKS, Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import over_datasets

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
    rows["hours"] = rows["cpu_seconds"].fillna(0.0)
    seconds = printed.of("runtime").set_index(["dataset", "method"])["mean"]
    places = pd.MultiIndex.from_arrays([rows["dataset"], rows["method"].replace(PROGRAM)])
    rows["seconds"] = seconds.reindex(places).to_numpy()
    ours = rows[rows["seconds"].notna() & rows["key"].isin(compared)]
    trained = [1 + int(json.loads(text).get("restarts") or 0) for text in ours["params"]]
    ours = ours.assign(authors=ours["seconds"] * trained)
    found = rows.groupby("method").agg(runs=("key", "size"), hours=("hours", _hours))
    found["ours"] = ours.groupby("method")["hours"].agg(_hours)
    found["authors"] = ours.groupby("method")["authors"].agg(_hours)
    known = [m for each in declarations()["paper"].values() for m in each.methods]
    order = [*dict.fromkeys(known), *sorted(set(found.index) - set(known))]
    return found.reindex([method for method in order if method in found.index]).reset_index()


def _hours(seconds: pd.Series) -> float:
    return float(sum(seconds)) / 3600


def ratios(runs: Runs, printed: Printed) -> pd.DataFrame:
    """Mean seconds over datasets, and as multiples of CART's and DL8.5's on the same datasets."""
    sources = {"ours": grid(runs, "runtime"), "paper": printed_grid("runtime", printed)}
    rows = []
    for task in TASKS:
        means = {name: matrix(timed, task) for name, timed in sources.items()}
        for method in means["ours"].columns:
            row: dict[str, Any] = {"Method": runs.name(method), "Task": TASK_NAMES[task]}
            for name, own in means.items():
                row[f"Seconds: {name}"] = over_datasets(own[method])["value"]
            for reference, (name, own) in product(("cart", "dl85"), means.items()):
                both = own[own[method].notna() & own[reference].notna()]
                mine, other = (over_datasets(both[m])["value"] for m in (method, reference))
                row[f"Relative to {runs.name(reference)}: {name}"] = mine / (other or math.nan)
            rows.append(row)
    return pd.DataFrame(rows)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    timed, compute = grid(runs, "runtime"), spent(runs, printed)
    if compute.empty:
        return None
    tables, figures = [table("compute", compute, runs.name, "paper")], []
    if has_results(timed):
        tables.insert(0, table("runtime-ratios", ratios(runs, printed), protocol="paper"))
        figures.append(figure("runtime-against-shape", lambda: _draw(runs, timed)))
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


def _draw(runs: Runs, timed: Grid) -> Any:
    from experiments.analysis import drawing

    with drawing.look():
        figure = drawing.canvas(5.6, 2.5)
        panels = figure.subplots(1, 2, sharey=True)
        means = matrix(timed)
        for axes, field, words in zip(
            panels, ("n_rows", "n_features"), ("Rows", "Features"), strict=True
        ):
            for method in means.columns:
                own = means[method].dropna().clip(lower=1e-4)
                if own.empty:
                    continue
                look = drawing.mark_of(method)
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
            drawing.plain_numbers(axes.xaxis, threes=True)
            drawing.plain_numbers(axes.yaxis)
            drawing.quiet(axes)
        panels[0].set_ylabel("Seconds")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        return figure


QUESTIONS = {110: answer}
