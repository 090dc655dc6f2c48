"""What do fits cost: seconds beside CART's and DL8.5's, hours spent, and other optimal solvers."""

import json
import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis import grids
from experiments.analysis.answer import Answer, Grid, Table, figure, table, tables
from experiments.analysis.grids import cells, grid, has_results, in_order, matrix, printed_grid
from experiments.analysis.pairwise import PROTOCOLS, alike
from experiments.analysis.printed import TASK_NAMES, TASKS, Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import over_datasets

SMALL_TREES = "small-trees"
VARIANTS = ["gradtree-gumbel", "gradtree-gumbel-noise-free", "gradtree-annealed"]
"""Those that the authors' program trains at much the same pace as the learner itself."""
REPRODUCED = ("tuned", "default", "ablation-tuned", "ablation-default", "no-penalty", "runtime")
"""The experiments behind the paper's tables."""
EXPERIMENT, ALONE = "solvers", "solvers-alone"
OURS, LIBRARY = "dl85", "dl85-original"
SOLVERS = (OURS, LIBRARY, "dl85-pytrees", "dl85-streed")


def spent(runs: Runs, printed: Printed) -> pd.DataFrame:
    """Hours per learner over all experiments, a shared run once; ours and by the printed runtimes.

    The paper times single tuned runs: a training that was restarted counts as many times, and what
    only the experiments of small trees use is not compared.
    """
    columns = ["key", "experiment", "dataset", "method", "params", "cpu_seconds"]
    rows = runs.frame.loc[runs.frame["status"] == "ok", columns]
    compared = set(rows.loc[~rows["experiment"].str.startswith(SMALL_TREES), "key"])
    rows = rows.drop_duplicates("key").sort_values("key")
    rows["hours"] = rows["cpu_seconds"].fillna(0.0)
    rows["authors"] = _printed_seconds(rows, printed)
    ours = rows[rows["authors"].notna() & rows["key"].isin(compared)]
    found = rows.groupby("method").agg(runs=("key", "size"), hours=("hours", _hours))
    found[["ours", "authors"]] = ours.groupby("method")[["hours", "authors"]].agg(_hours)
    known = [m for each in grids.declarations()["paper"].values() for m in each.methods]
    order = [*dict.fromkeys(known), *sorted(set(found.index) - set(known))]
    return found.reindex([method for method in order if method in found.index]).reset_index()


def _printed_seconds(rows: pd.DataFrame, printed: Printed) -> Any:
    """What runs take by the printed runtimes; NaN where none is printed."""
    seconds = printed.of("runtime").set_index(["dataset", "method"])["mean"]
    programs = rows["method"].replace(VARIANTS, "gradtree")
    places = pd.MultiIndex.from_arrays([rows["dataset"], programs])
    texts = rows["params"].unique()
    trained = {text: 1 + int(json.loads(text).get("restarts") or 0) for text in texts}
    return seconds.reindex(places).to_numpy() * rows["params"].map(trained).to_numpy()


def _hours(seconds: pd.Series) -> float:
    return float(sum(seconds)) / 3600


def reproduction(runs: Runs) -> pd.DataFrame:
    """What the runs behind the paper's tables took, a shared run once: a row for each."""
    printed = [method for method, facts in runs.learners.items() if facts.get("in_paper")]
    rows = runs.frame.query("protocol == 'paper' and status == 'ok' and experiment in @REPRODUCED")
    return rows[rows["method"].isin(printed)].drop_duplicates("key")


def _by_experiment(rows: pd.DataFrame, runs: Runs) -> pd.DataFrame:
    """Fits and minutes of core time by learner, and the minutes by experiment."""
    rows = rows.assign(minutes=rows["cpu_seconds"] / 60)
    how: Any = {"aggfunc": "sum", "margins": True, "margins_name": "all"}
    found = rows.pivot_table("minutes", "method", "experiment", **how)
    found.insert(0, "fits", [*rows.groupby("method").size(), len(rows)])
    found = found.reindex([*in_order(rows["method"]), "all"])
    return found.rename(runs.name).rename_axis("Learner").reset_index()


def _in_one_go(rows: pd.DataFrame) -> tuple[int, float]:
    """How many runs were made together, and the minutes from the first start to the last end."""
    together = rows[rows["commit"] == rows["commit"].mode()[0]]
    ends = pd.to_datetime(together["finished"])
    begins = ends - pd.to_timedelta(together["wall_seconds"], unit="s")
    return len(together), (ends.max() - begins.min()).total_seconds() / 60


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


def runtime(runs: Runs, printed: Printed) -> Answer | None:
    timed, compute = grid(runs, "runtime"), spent(runs, printed)
    if compute.empty:
        return None
    shown, figures = [table("compute", compute, runs.name, "paper")], []
    if has_results(timed):
        shown.insert(0, table("runtime-ratios", ratios(runs, printed), protocol="paper"))
        figures.append(figure("runtime-against-shape", lambda: _draw(runs, timed)))
    sentences, made = [*_took(runs, timed, compute)], reproduction(runs)
    if len(made):
        shown.append(table("reproduction", _by_experiment(made, runs), protocol="paper"))
        core, theirs = _hours(made["cpu_seconds"]), _printed_seconds(made, printed)
        alone = np.nansum(theirs[made["method"] == "gradtree"]) / 3600
        count, minutes = _in_one_go(made)
        sentences.append(
            f"The {len(made):,} fits behind the paper's tables take {core:.1f} core-hours; "
            f"{count:,} of them were made in one go, in {minutes:.0f} minutes on two cores. By the "
            f"printed runtimes those of GradTree alone take {alone:.0f} hours on the authors' "
            "machine with a GPU."
        )
    return Answer("runtime", "How long does training take?", sentences, shown, figures)


def _took(runs: Runs, timed: Grid, compute: pd.DataFrame) -> Iterator[str]:
    seconds = matrix(timed).mean().dropna().sort_values()
    if len(seconds):
        told = ", ".join(f"{runs.name(method)} {mean:.2f} s" for method, mean in seconds.items())
        yield (
            "One training without restarts, on one core and mean over the datasets a learner "
            f"finished: {told}."
        )
    whole = f"{compute['runs'].sum():,} fits took {compute['hours'].sum():.1f} core-hours"
    for line in compute[compute["method"] == "gradtree"].dropna().itertuples():
        whole += (
            f"; those of GradTree on the paper's datasets, small trees aside, took "
            f"{line.ours:.1f}, where the paper's printed runtimes, on a machine with a GPU, "
            f"give {line.authors:.0f}"
        )
    yield f"{whole}."


def _draw(runs: Runs, timed: Grid) -> Any:
    from experiments.analysis import drawing

    figure = drawing.canvas(5.6, 2.5)
    panels = figure.subplots(1, 2, sharey=True)
    means = matrix(timed)
    fields = {"n_rows": "Rows", "n_features": "Features"}
    for axes, (field, words) in zip(panels, fields.items(), strict=True):
        for method in means.dropna(axis=1, how="all"):
            own = means[method].dropna().clip(lower=1e-4)
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


# Solvers of DL8.5's optimal tree


def against_library(runs: Runs, printed: Printed, protocol: str) -> pd.DataFrame:
    """Where pydl8.5 has run: trials that ended alike; seconds, divided on machines of one kind."""
    found, rows = cells(runs, protocol, EXPERIMENT, "test_f1"), runs.of(protocol, EXPERIMENT)
    rows = rows[rows["status"] == "ok"].set_index(["dataset", "trial"])
    ours, library = (rows[rows["method"] == solver] for solver in (OURS, LIBRARY))
    both = ours.index.intersection(library.index)
    ours, library = ours.loc[both], library.loc[both]
    one_kind = (ours["environment"] == library["environment"]).groupby(level="dataset").all()
    frame = alike(ours, library).groupby(level="dataset").agg(trials="size", same="sum")
    for name, own in (("ours", ours), ("pydl8.5", library)):
        seconds = own["cpu_seconds"].fillna(0.0).groupby(level="dataset")
        frame[f"Seconds: {name}"] = seconds.agg(lambda each: float(sum(each)))
    mine, theirs = frame["Seconds: ours"], frame["Seconds: pydl8.5"]
    frame["ratio"] = (theirs / mine).where(one_kind & mine.gt(0))
    frame["Seconds: pydl8.5"] = theirs.astype(object)
    for (slug, method), reason in found["missing"].items():
        if method == LIBRARY and reason and slug not in frame.index:
            frame.loc[slug, ["trials", "Seconds: pydl8.5"]] = 0, reason
    frame.insert(0, "test F1", [found["mean"].get((slug, OURS)) for slug in frame.index])
    bare = len(frame) and frame["ratio"].isna().all()
    return printed.labelled(frame.drop(columns="ratio") if bare else frame)


def alone(runs: Runs, printed: Printed, protocol: str) -> pd.DataFrame:
    """Solvers that ran one at a time, over the trials that all of them finished."""
    missing, rows = cells(runs, protocol, ALONE, "test_f1")["missing"], runs.of(protocol, ALONE)
    rows = rows[(rows["status"] == "ok") & rows["method"].isin(SOLVERS)]
    solvers = rows.groupby("dataset")["method"].transform("nunique")
    rows = rows[rows.groupby(["dataset", "trial"])["method"].transform("nunique") == solvers]
    rows = rows.assign(errors=[json.loads(text)["errors"] for text in rows["extra"]])
    sums = rows.groupby(["dataset", "method"])[["errors", "cpu_seconds"]].sum()
    errors, seconds = (sums[n].unstack("method").reindex(columns=[*SOLVERS]) for n in sums)
    frame = pd.DataFrame({"errors": errors[OURS].dropna()})
    frame["alike"] = errors.nunique(axis=1).eq(1).map({True: "yes", False: "no"})
    for solver in SOLVERS:
        why = [missing.get((slug, solver), "") or None for slug in frame.index]
        took = seconds.loc[frame.index, solver].astype(object)
        frame[f"CPU seconds: {runs.name(solver)}"] = took.where(took.notna(), why)
    for solver in SOLVERS[1:]:
        frame[f"Ratio: {runs.name(solver)}"] = seconds[solver] / seconds[OURS]
    return printed.labelled(frame)


def solvers(runs: Runs, printed: Printed) -> Answer | None:
    made = list[Table]()
    for protocol in PROTOCOLS:
        sides = against_library(runs, printed, protocol), alone(runs, printed, protocol)
        made += tables(dict(zip((EXPERIMENT, ALONE), sides, strict=True)), protocol=protocol)
    title = "Do other solvers find the same optimal trees?"
    return Answer("solvers", title, [*_agree(made)], made, (), [ALONE]) if made else None


def _agree(made: list[Table]) -> Iterator[str]:
    both = [each.frame for each in made if each.name == EXPERIMENT]
    trials, same = (int(sum(frame[name].sum() for frame in both)) for name in ("trials", "same"))
    if trials:
        yield (
            f"{'Yes' if same == trials else 'Mostly'}: our kernels and pydl8.5 ended in the same "
            f"scores and tree size in {same} of {trials} fits that both finished."
        )
    for frame in (each.frame for each in made if each.name == ALONE):
        ratios = frame.filter(like="Ratio: ").astype(float).dropna(how="all")
        told = [
            f"{name.removeprefix('Ratio: ')} {own.median():.1f} [{own.min():.1f}, {own.max():.1f}] "
            f"on {own.count()}"
            for name, own in ratios.dropna(axis=1, how="all").items()
        ]
        same = (frame.loc[ratios.index, "alike"] == "yes").sum()
        if told:
            yield (
                "One solver at a time on one machine, all who finished agree on the errors of the "
                f"optimal tree of depth 4 on {same} of {len(ratios)} datasets; "
                "CPU seconds divided by ours, median [least, most] over the datasets a solver "
                f"finished: {', '.join(told)}."
            )


QUESTIONS = {110: runtime, 120: solvers}
