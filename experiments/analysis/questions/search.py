"""Does our own hyperparameter search change the picture, and how many candidates does it need?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis import stats
from experiments.analysis.answer import Answer, Figure
from experiments.analysis.pairwise import PROTOCOLS, listed, means, table
from experiments.analysis.printed import TASK_NAMES, TUNED_METHODS, Printed
from experiments.analysis.ranks import mean_of, sample_std
from experiments.analysis.runs import Runs

ORDER = 60
EXPERIMENT = "searched"
BUDGETS = (1, 3, 10, 30, 100)
"""As many candidates as the experiments ``best-of-…`` are allowed."""


def candidates(runs: Runs, protocol: str) -> pd.Series:
    """How many candidates every learner had on a dataset: the fewest, should they differ."""
    own = runs.winners[runs.winners["protocol"] == protocol]
    return own.groupby("dataset")["trials"].min().astype(int) if len(own) else pd.Series(dtype=int)


def searched(runs: Runs, printed: Printed, protocol: str) -> pd.DataFrame:
    """Test F1 with published hyperparameters and with ours, by dataset and learner."""
    drawn = candidates(runs, protocol)
    both = {
        method: [
            means(runs, (protocol, experiment, method)) for experiment in ("tuned", EXPERIMENT)
        ]
        for method in TUNED_METHODS
    }
    rows = []
    for dataset in printed.datasets.itertuples():
        row = _label(dataset, drawn)
        for method, (published, ours) in both.items():
            if dataset.slug in published.index and dataset.slug in ours.index:
                row[f"{runs.name(method)}: published"] = published[dataset.slug]
                row[f"{runs.name(method)}: ours"] = ours[dataset.slug]
        rows.append(row)
    return _kept(rows)


def optimism(runs: Runs, printed: Printed, protocol: str) -> pd.DataFrame:
    """The score that made a candidate win beside its test score, and the mean difference."""
    drawn = candidates(runs, protocol)
    own = runs.winners[runs.winners["protocol"] == protocol]
    scores = {method: part.set_index("dataset")["score"] for method, part in own.groupby("method")}
    tests = {method: means(runs, (protocol, EXPERIMENT, method)) for method in TUNED_METHODS}
    rows: list[dict[str, Any]] = []
    last: dict[str, Any] = {"Dataset": "Mean difference", "Task": "All", "candidates": None}
    gaps: dict[str, list[float]] = {}
    for dataset in printed.datasets.itertuples():
        row = _label(dataset, drawn)
        for method in TUNED_METHODS:
            if method not in scores:
                continue
            name = runs.name(method)
            for column in ("search", "search spread", "test"):
                row.setdefault(f"{name}: {column}", None)
            if dataset.slug in scores[method].index and dataset.slug in tests[method].index:
                search, test = scores[method][dataset.slug], tests[method][dataset.slug]
                row[f"{name}: search"], row[f"{name}: test"] = search, test
                gaps.setdefault(name, []).append(search - test)
        rows.append(row)
    for name, values in gaps.items():
        last[f"{name}: search"] = mean_of(values)
        last[f"{name}: search spread"] = sample_std(values)
    return _kept([*rows, last]) if gaps else _kept(rows)


def _label(dataset: Any, drawn: pd.Series) -> dict[str, Any]:
    n = drawn.get(dataset.slug)
    return {"Dataset": dataset.name, "Task": TASK_NAMES[dataset.task], "candidates": n}


def _kept(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Only datasets with a number."""
    frame = pd.DataFrame(rows).astype({"candidates": "Int64"})
    return frame[frame.iloc[:, 3:].notna().any(axis=1)].reset_index(drop=True)


def growth(runs: Runs, protocol: str) -> pd.DataFrame:
    """Test F1 of the best of so many candidates, over the datasets that have every budget.

    The quartiles, over datasets, are of its difference from the winner of the whole search.
    """
    lines = []
    for method in TUNED_METHODS:
        places = [*(f"best-of-{budget}" for budget in BUDGETS), EXPERIMENT]
        scores = pd.DataFrame({at: means(runs, (protocol, at, method)) for at in places}).dropna()
        for budget in BUDGETS if len(scores) else ():
            own = scores[f"best-of-{budget}"]
            quartiles = np.quantile(own - scores[EXPERIMENT], (0.25, 0.5, 0.75))
            low, median, high = map(stats.stable, quartiles)
            line = {"method": method, "candidates": budget, "datasets": len(own)}
            lines.append({**line, "mean": mean_of(own), "low": low, "median": median, "high": high})
    return pd.DataFrame(lines)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    tables, summary, grown = [], [], {}
    for protocol in PROTOCOLS:
        frame = searched(runs, printed, protocol)
        if frame.empty:
            continue
        tables += [
            table(EXPERIMENT, frame, protocol=protocol),
            table("search-optimism", optimism(runs, printed, protocol), protocol=protocol),
        ]
        for method in TUNED_METHODS:
            both = frame.filter(regex=f"^{runs.name(method)}: ").dropna()
            if len(both):
                line = {"Learner": runs.name(method), "Protocol": protocol, "datasets": len(both)}
                means_ = {name: mean_of(both.iloc[:, at]) for at, name in enumerate(WAYS)}
                summary.append({**line, **means_})
        grown[protocol] = growth(runs, protocol)
        if len(grown[protocol]):
            shown = grown[protocol].assign(method=grown[protocol]["method"].map(runs.name))
            tables.append(table("search-budget", shown, BUDGET, protocol))
    if not tables:
        return None
    both = pd.DataFrame(summary)
    known = {protocol: lines for protocol, lines in grown.items() if len(lines)}
    figure = Figure("search-growth", CAPTION, lambda: _draw(runs, known))
    return Answer(
        "search",
        "Does our own hyperparameter search change the picture?",
        tuple(_sentences(runs, both, grown)),
        (table("searched-summary", both), *tables),
        (figure,) if known else (),
        shown=("searched-summary", "search-budget"),
    )


WAYS = ("published", "ours")
BUDGET = {
    "method": "Learner",
    "candidates": "candidates",
    "datasets": "datasets",
    "mean": "mean test F1",
    "low": "difference from the winner: lower quartile",
    "median": "difference from the winner: median",
    "high": "difference from the winner: upper quartile",
}


def _sentences(runs: Runs, both: pd.DataFrame, grown: dict[str, pd.DataFrame]) -> list[str]:
    protocol = both["Protocol"].iloc[-1]
    named = [runs.name(method) for method in ("gradtree", "cart")]
    clean = both[(both["Protocol"] == protocol) & both["Learner"].isin(named)]
    parts = [
        f"{row.Learner} has {row.published:.3f} with the published hyperparameters and "
        f"{row.ours:.3f} with those of our search"
        for row in clean.itertuples()
    ]
    change = (clean["ours"] - clean["published"]).abs().max()
    word = "Hardly" if change < stats.ROPE else "Yes"
    sentences = [f"{word}: under protocol {protocol} {listed(parts)} (mean test F1)."]
    curves = grown.get(protocol, pd.DataFrame())
    if len(curves):
        told = [
            f"{runs.name(method)} "
            + ", ".join(
                f"{row.mean:.3f}" for row in own.itertuples() if row.candidates in (3, 10, 100)
            )
            for method, own in curves.groupby("method", sort=False)
            if method in ("gradtree", "cart")
        ]
        sentences.append(
            f"The best of 3, 10 and 100 candidates gives {listed(told)} "
            f"({curves['datasets'].iloc[0]} datasets)."
        )
    sentences.append(
        "The search is not nested: it uses the first split, whose rows are test rows of other "
        "trials, and draws from the values that the paper's 36 winners have; under protocol paper "
        "its validation rows leak as well."
    )
    return sentences


CAPTION = (
    "Test F1 of the best of so many candidates minus that of the winner of the whole search: "
    "median and quartiles over the datasets with every budget (their number in brackets)."
)


def _draw(runs: Runs, grown: dict[str, pd.DataFrame]) -> Any:
    from experiments.output import figures

    with figures.look():
        figure = figures.canvas(5.6, 2.2)
        panels = figure.subplots(1, len(grown), sharey=True, squeeze=False)[0]
        for axes, (protocol, lines) in zip(panels, grown.items(), strict=True):
            for method, own in lines.groupby("method", sort=False):
                look = figures.mark_of(str(method))
                place = own["candidates"], own["low"], own["high"]
                axes.fill_between(*place, color=look.colour, alpha=0.15, linewidth=0)
                label = f"{runs.name(str(method))} ({own['datasets'].iloc[0]})"
                line = own["candidates"], own["median"]
                axes.plot(*line, marker=look.marker, color=look.colour, markersize=4, label=label)
            axes.set_xscale("log")
            axes.set_xticks(BUDGETS, [str(budget) for budget in BUDGETS])
            axes.minorticks_off()
            axes.axhline(0, color=figures.INK, linewidth=0.7)
            axes.set_title(f"Protocol {protocol}")
            axes.set_xlabel("Candidates")
            axes.legend(loc="lower right", fontsize=6)
            figures.quiet(axes)
        panels[0].set_ylabel("Test F1 minus the winner's")
        return figure
