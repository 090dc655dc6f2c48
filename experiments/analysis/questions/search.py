"""Does our own hyperparameter search change the picture, and how many candidates does it need?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis import stats
from experiments.analysis.answer import Answer, Figure, Format, Table
from experiments.analysis.ranks import mean_of, sample_std
from experiments.analysis.pairwise import PROTOCOLS, listed, means
from experiments.analysis.printed import TASK_NAMES, TUNED_METHODS, Printed
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


def growth(runs: Runs, printed: Printed, protocol: str) -> pd.DataFrame:
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
        tables.append(_searched_table(frame, protocol))
        tables.append(_optimism_table(optimism(runs, printed, protocol), protocol))
        summary += [
            {"protocol": protocol, "method": method, "published": mean_of(both.iloc[:, 0])}
            | {"ours": mean_of(both.iloc[:, 1]), "datasets": len(both)}
            for method in TUNED_METHODS
            if f"{runs.name(method)}: ours" in frame
            for both in [frame.filter(regex=f"^{runs.name(method)}: ").dropna()]
        ]
        grown[protocol] = growth(runs, printed, protocol)
        if len(grown[protocol]):
            tables.append(_budget_table(runs, grown[protocol], protocol))
    if not tables:
        return None
    both = pd.DataFrame(summary)
    compact = Table(
        "searched-summary",
        "Published hyperparameters and our own search",
        "Mean test F1 over the datasets searched, with the published hyperparameters and with "
        "those that our search found",
        both.assign(method=both["method"].map(runs.name))[
            ["method", "protocol", "datasets", "published", "ours"]
        ].rename(columns={"method": "Learner", "protocol": "Protocol"}),
        formats={"datasets": Format(kind="count")},
    )
    draw = lambda: _draw(runs, grown)  # noqa: E731
    return Answer(
        "search",
        "Does our own hyperparameter search change the picture?",
        tuple(_sentences(runs, both, grown)),
        (compact, *tables),
        (Figure("search-growth", CAPTION, draw),) if any(map(len, grown.values())) else (),
        shown=(compact.name, "search-budget"),
    )


def _grouped(frame: pd.DataFrame) -> dict[str, Format]:
    names = [name for name in frame if ": " in name]
    return {
        "candidates": Format(kind="count"),
        **{name: Format(group=name.split(": ")[0]) for name in names},
    }


def _searched_table(frame: pd.DataFrame, protocol: str) -> Table:
    return Table(
        "searched",
        "Our own hyperparameter search",
        "Test F1 with the published hyperparameters and with the winners of our search: random "
        "candidates, cross-validated on the first split, as in the paper; 300, or to save time "
        "the first 100 of the same sequence, for every learner of a dataset alike",
        frame,
        protocol,
        _grouped(frame),
    )


def _optimism_table(frame: pd.DataFrame, protocol: str) -> Table:
    return Table(
        "search-optimism",
        "Search score and test score",
        "Cross-validated macro F1 of the winning candidate, and its mean test F1 over ten trials; "
        "the last row is the mean difference over datasets",
        frame,
        protocol,
        _grouped(frame),
    )


def _budget_table(runs: Runs, grown: pd.DataFrame, protocol: str) -> Table:
    group = "difference from the winner"
    quartiles = {"low": "lower quartile", "median": "median", "high": "upper quartile"}
    columns = {name: f"{group}: {words}" for name, words in quartiles.items()}
    frame = grown.assign(method=grown["method"].map(runs.name)).rename(
        columns={"method": "Learner", "mean": "mean test F1", **columns}
    )
    counts = dict.fromkeys(("candidates", "datasets"), Format(kind="count"))
    return Table(
        "search-budget",
        "How many candidates a search needs",
        "Mean test F1 of the best of the first candidates, and the quartiles, over datasets, of "
        "its difference from the winner of the whole search",
        frame,
        protocol,
        {**counts, **dict.fromkeys(columns.values(), Format(kind="change", group=group))},
    )


def _sentences(runs: Runs, both: pd.DataFrame, grown: dict[str, pd.DataFrame]) -> list[str]:
    protocol = both["protocol"].iloc[-1]
    clean = both[(both["protocol"] == protocol) & both["method"].isin(["gradtree", "cart"])]
    parts = [
        f"{runs.name(row.method)} has {row.published:.3f} with the published hyperparameters and "
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
        known = {protocol: lines for protocol, lines in grown.items() if len(lines)}
        panels = figure.subplots(1, len(known), sharey=True, squeeze=False)[0]
        for axes, (protocol, lines) in zip(panels, known.items(), strict=True):
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
