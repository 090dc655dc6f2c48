"""Does our own hyperparameter search change the picture, and how many candidates does it need?"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis import stats
from experiments.analysis.answer import Answer, Table, figure, tables
from experiments.analysis.pairwise import PROTOCOLS, listed, means, rows
from experiments.analysis.printed import TUNED_METHODS, Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import mean_of, sample_std

EXPERIMENT = "searched"
BUDGETS = (1, 3, 10, 30, 100)
"""As many candidates as the experiments ``best-of-…`` are allowed."""
WAYS = ("published", "ours")


def _by_dataset(
    runs: Runs, printed: Printed, protocol: str, columns: dict[str, pd.Series]
) -> pd.DataFrame:
    """Columns by dataset in the paper's order, with the fewest candidates that a learner had."""
    wide = pd.DataFrame(columns).dropna(how="all")
    own = runs.winners[runs.winners["protocol"] == protocol]
    drawn = own.groupby("dataset")["trials"].min() if len(own) else pd.Series(dtype=int)
    wide.insert(0, "candidates", drawn.reindex(wide.index).astype("Int64"))
    return printed.labelled(wide)


def ways(runs: Runs, protocol: str, method: str) -> pd.DataFrame:
    """Test F1 by dataset with published hyperparameters and with ours, where both have run."""
    sides = [means(runs, (protocol, name, method)) for name in ("tuned", EXPERIMENT)]
    return pd.DataFrame(dict(zip(WAYS, sides, strict=True))).dropna()


def searched(runs: Runs, printed: Printed, protocol: str) -> pd.DataFrame:
    """Test F1 with published hyperparameters and with ours, by dataset and learner."""
    both = {runs.name(method): ways(runs, protocol, method) for method in TUNED_METHODS}
    columns = {f"{n}: {way}": own[way] for n, own in both.items() for way in WAYS if len(own)}
    return _by_dataset(runs, printed, protocol, columns)


def optimism(runs: Runs, printed: Printed, protocol: str) -> pd.DataFrame:
    """The score that made a candidate win beside its test score, and the mean difference."""
    winners = runs.winners[runs.winners["protocol"] == protocol]
    columns: dict[str, pd.Series] = {}
    last: dict[str, Any] = {"Dataset": "Mean difference", "Task": "All", "candidates": None}
    for method in TUNED_METHODS:
        won = winners[winners["method"] == method].set_index("dataset")["score"].astype(float)
        test = means(runs, (protocol, EXPERIMENT, method))
        both = pd.DataFrame({"search": won, "search spread": None, "test": test})
        both = both.dropna(subset=["search", "test"])
        if len(both):
            name, gaps = runs.name(method), list(both["search"] - both["test"])
            columns |= {f"{name}: {column}": both[column] for column in both}
            last |= {f"{name}: search": mean_of(gaps), f"{name}: search spread": sample_std(gaps)}
    lines = _by_dataset(runs, printed, protocol, columns).to_dict("records")
    return pd.DataFrame([*lines, last]).astype({"candidates": "Int64"}) if lines else pd.DataFrame()


def growth(runs: Runs, protocol: str) -> pd.DataFrame:
    """Mean test F1 of the best of so many candidates; quartiles of its lag behind the winner."""
    lines = []
    places = {budget: f"best-of-{budget}" for budget in BUDGETS} | {0: EXPERIMENT}
    for method in TUNED_METHODS:
        sides = {n: means(runs, (protocol, place, method)) for n, place in places.items()}
        scores = pd.DataFrame(sides).dropna()
        for budget in BUDGETS if len(scores) else ():
            quartiles = np.quantile(scores[budget] - scores[0], (0.25, 0.5, 0.75))
            line = {"method": method, "candidates": budget, "datasets": len(scores)}
            line |= dict(zip(("low", "median", "high"), map(stats.stable, quartiles), strict=True))
            lines.append({**line, "mean": mean_of(scores[budget])})
    return pd.DataFrame(lines)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    made, summary, grown = list[Table](), [], {}
    for protocol in PROTOCOLS:
        frames = {EXPERIMENT: searched(runs, printed, protocol)}
        if frames[EXPERIMENT].empty:
            continue
        frames["search-optimism"] = optimism(runs, printed, protocol)
        frames["search-budget"] = grown[protocol] = growth(runs, protocol)
        made += tables(frames, runs.name, protocol)
        for method in TUNED_METHODS:
            if len(both := ways(runs, protocol, method)):
                line = {"Learner": runs.name(method), "Protocol": protocol, "datasets": len(both)}
                summary.append({**line, **{way: mean_of(both[way]) for way in WAYS}})
    if not made:
        return None
    both = pd.DataFrame(summary)
    known = {protocol: lines for protocol, lines in grown.items() if len(lines)}
    title = "Does our own hyperparameter search change the picture?"
    drawn = [figure("search-growth", lambda: _draw(runs, known))] if known else []
    made = [*tables({"searched-summary": both}), *made]
    shown = ["searched-summary", "search-budget"]
    return Answer("search", title, [*_sentences(runs, both, grown)], made, drawn, shown)


def _sentences(runs: Runs, both: pd.DataFrame, grown: dict[str, pd.DataFrame]) -> Iterator[str]:
    protocol = both["Protocol"].iloc[-1]
    named = [runs.name(method) for method in ("gradtree", "cart")]
    clean = both[(both["Protocol"] == protocol) & both["Learner"].isin(named)]
    words = "{Learner} has {published:.3f} with the published hyperparameters and {ours:.3f}"
    parts = [f"{words} with those of our search".format(**line) for line in rows(clean)]
    change = (clean["ours"] - clean["published"]).abs().max()
    word = "Hardly" if change < stats.ROPE else "Yes"
    yield f"{word}: under protocol {protocol} {listed(parts)} (mean test F1)."
    if len(curves := grown[protocol]):
        some = curves[curves["candidates"].isin([3, 10, 100])].groupby("method", sort=False)["mean"]
        told = [
            f"{runs.name(str(method))} {', '.join(f'{mean:.3f}' for mean in own)}"
            for method, own in some
            if method in ("gradtree", "cart")
        ]
        yield (
            f"The best of 3, 10 and 100 candidates gives {listed(told)} "
            f"({curves['datasets'].iloc[0]} datasets)."
        )
    yield (
        "The search is not nested: it uses the first split, whose rows are test rows of other "
        "trials, and draws from the values that the paper's 36 winners have; under protocol paper "
        "its validation rows leak as well."
    )


def _draw(runs: Runs, grown: dict[str, pd.DataFrame]) -> Any:
    from experiments.analysis import drawing

    figure = drawing.canvas(5.6, 2.2)
    panels = figure.subplots(1, len(grown), sharey=True, squeeze=False)[0]
    for axes, (protocol, lines) in zip(panels, grown.items(), strict=True):
        for method, own in lines.groupby("method", sort=False):
            (colour, marker), x = drawing.mark_of(str(method)), own["candidates"]
            axes.fill_between(x, own["low"], own["high"], color=colour, alpha=0.15, linewidth=0)
            label = f"{runs.name(str(method))} ({own['datasets'].iloc[0]})"
            axes.plot(x, own["median"], marker=marker, color=colour, markersize=4, label=label)
        axes.set_xscale("log")
        axes.set_xticks(BUDGETS, [str(budget) for budget in BUDGETS])
        axes.minorticks_off()
        axes.axhline(0, color=drawing.INK, linewidth=0.7)
        axes.set_title(f"Protocol {protocol}")
        axes.set_xlabel("Candidates")
        axes.legend(loc="lower right", fontsize=6)
        drawing.quiet(axes)
    panels[0].set_ylabel("Test F1 minus the winner's")
    return figure


QUESTIONS = {60: answer}
