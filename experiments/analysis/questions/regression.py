"""Trees of numbers: GradTree against CART and boosting on regressions, each tuned in its trial.

Everything is over the datasets on which every learner of a table finished all its trials. Errors
have the units of their targets, so learners are compared by the share of the other's error that
they save.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from experiments.analysis import stats
from experiments.analysis.answer import Answer, figure, table
from experiments.analysis.pairwise import contrast, interval, listed, means, signs, with_holm
from experiments.analysis.printed import Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import FEWEST_DATASETS, LEVEL, mean_of

PROTOCOL, NUMBERS, QUANTILES = "clean", "regression", "regression-quantiles"
PRUNED, GRADTREE, CEILING = "cart-pruned-regression", "gradtree-regression", "boosting-regression"
TREES = ("cart-regression", PRUNED, GRADTREE)
CART_QUANTILE, GRADTREE_QUANTILE = "cart-quantile", "gradtree-quantile"
LEVELS = {"0.1": "test_pinball_10", "0.5": "test_pinball_50", "0.9": "test_pinball_90"}


def scores(runs: Runs, experiment: str, methods: tuple[str, ...], metric: str) -> pd.DataFrame:
    """Means over trials, datasets (by slug) x learners, of the datasets that all finished."""
    found = {m: means(runs, (PROTOCOL, experiment, m), metric) for m in methods}
    return pd.DataFrame(found).dropna()


def best_trees(r2: pd.DataFrame) -> pd.Series:
    """The tree with the highest R² of each dataset; empty where two are that close."""
    trees = r2[list(TREES)]
    apart = trees.apply(lambda row: row.nlargest(2).diff().abs().iloc[-1], axis=1)
    return trees.idxmax(axis=1).where(apart > stats.TIE, "")


def lines(runs: Runs) -> pd.DataFrame:
    """One learner: R², wins among trees, R² and error against pruned CART, nodes and seconds."""
    every = (*TREES, CEILING)
    r2, mae, cpu = (
        scores(runs, NUMBERS, every, metric) for metric in ("test_r2", "test_mae", "cpu_seconds")
    )
    if len(r2) < FEWEST_DATASETS:
        return pd.DataFrame()
    nodes = scores(runs, NUMBERS, TREES, "tree_size")
    ranks, won = r2.rank(axis=1, ascending=False).mean(), best_trees(r2)
    found = []
    for method in every:
        line: dict[str, Any] = {"method": method, "n": len(r2), "r2": mean_of(r2[method])}
        line |= {"rank": ranks[method], "cpu": mean_of(cpu[method])}
        if method != CEILING:
            line |= {"won": int((won == method).sum()), "nodes": mean_of(nodes[method])}
        if method != PRUNED:
            saved = (1 - mae[method] / mae[PRUNED]).tolist()
            line |= contrast(r2[method] - r2[PRUNED]) or {}
            line |= {"saved": mean_of(saved), "mae signs": signs(saved)["signs"]}
        found.append(line)
    tested = with_holm([line for line in found if "p" in line]).set_index("method")["holm"]
    frame = pd.DataFrame(found)
    return frame.assign(holm=frame["method"].map(tested))


def quantiles(runs: Runs) -> pd.DataFrame:
    """One quantile: the share of CART's pinball loss that GradTree saves."""
    both, found = (CART_QUANTILE, GRADTREE_QUANTILE), []
    for level, metric in LEVELS.items():
        losses = scores(runs, QUANTILES, both, metric)
        line = contrast((1 - losses[GRADTREE_QUANTILE] / losses[CART_QUANTILE]).tolist())
        if line is not None:
            found.append({"level": level, **line})
    return with_holm(found)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found, levels = lines(runs), quantiles(runs)
    if found.empty:
        return None
    frames = {NUMBERS: found, QUANTILES: levels}
    tables = [table(name, frame, runs.name) for name, frame in frames.items() if len(frame)]
    r2 = scores(runs, NUMBERS, (*TREES, CEILING), "test_r2")
    told = [*_who_wins(runs, found, r2), *_beyond_trees(runs, found, r2), *_costs(runs, found)]
    told += [*_quantile_words(runs, levels)]
    drawn = figure(NUMBERS, lambda: _draw(runs, r2))
    title = "Which tree for numbers?"
    return Answer(NUMBERS, title, told, tables, [drawn], [each.name for each in tables])


def _who_wins(runs: Runs, found: pd.DataFrame, r2: pd.DataFrame) -> Iterator[str]:
    won = best_trees(r2)
    counts = {method: int((won == method).sum()) for method in TREES}
    order = sorted(TREES, key=lambda method: -counts[method])
    told = listed([f"{runs.name(method)} on {counts[method]}" for method in order])
    level = int((won == "").sum())
    rest = f", and on {level} two trees are level" if level else ""
    planned = runs.of(PROTOCOL, NUMBERS)["dataset"].nunique()
    done = f"{len(r2)} of {planned}" if len(r2) < planned else planned
    yield (
        f"Highest R² of three single trees, each tuned inside its trial (protocol clean, {done} "
        f"datasets{' so far' if len(r2) < planned else ''}): {told}{rest}."
    )
    lines = found.set_index("method")
    for method in (TREES[0], GRADTREE):
        line = lines.loc[method]
        word = "not shown to differ from"
        if line["holm"] < LEVEL:
            word = "better than" if line["difference"] > 0 else "worse than"
        share = f"{100 * abs(line['saved']):.1f} % {'less' if line['saved'] > 0 else 'more'}"
        yield (
            f"In R² {runs.name(method)} is {word} {runs.name(PRUNED)}: {interval(line)} "
            f"(wins-ties-losses {line['signs']}, p = {line['holm']:.2g} after Holm’s correction); "
            f"its mean absolute error is {share} on average (wins-ties-losses {line['mae signs']})."
        )
    for method in order:
        if where := [runs.name(slug) for slug in won.index[won == method]]:
            yield f"{runs.name(method)} has the highest R² of the trees on {listed(where)}."


def _beyond_trees(runs: Runs, found: pd.DataFrame, r2: pd.DataFrame) -> Iterator[str]:
    above = int((r2[CEILING] > r2[list(TREES)].max(axis=1)).sum())
    mean = {line["method"]: line["r2"] for line in found.to_dict("records")}
    told = ", ".join(f"{runs.name(method)} {mean[method]:.3f}" for method in (*TREES, CEILING))
    yield (
        f"One tree costs accuracy: {runs.name(CEILING)} has a higher R² than every tree on {above} "
        f"of {len(r2)} datasets (mean R²: {told})."
    )
    for slug, row in r2[(r2[list(TREES)] < 0).any(axis=1)].iterrows():
        own = ", ".join(f"{runs.name(method)} {row[method]:.2f}" for method in TREES)
        yield f"On {runs.name(str(slug))} a tree does worse than the mean of the target: R² {own}."


def _costs(runs: Runs, found: pd.DataFrame) -> Iterator[str]:
    lines = found.set_index("method")
    nodes = ", ".join(f"{runs.name(m)} {lines.at[m, 'nodes']:.0f}" for m in TREES)
    cpu = ", ".join(f"{runs.name(m)} {lines.at[m, 'cpu']:.1f}" for m in lines.index)
    yield f"Mean nodes: {nodes}. CPU seconds of a fit with its tuning: {cpu}."


def _quantile_words(runs: Runs, levels: pd.DataFrame) -> Iterator[str]:
    if len(levels):
        told = [
            f"{line['level']}: {interval(line)} ({line['signs']}, p = {line['holm']:.2g})"
            for line in levels.to_dict("records")
        ]
        yield (
            f"Quantile trees: share of the pinball loss of {runs.name(CART_QUANTILE)} that "
            f"{runs.name(GRADTREE_QUANTILE)} saves, mean over {levels['n'].max()} datasets "
            f"(wins-ties-losses): at {'; at '.join(told)}."
        )
        both = (CART_QUANTILE, GRADTREE_QUANTILE)
        nodes, cpu = (scores(runs, QUANTILES, both, m).mean() for m in ("tree_size", "cpu_seconds"))
        costs = [f"{runs.name(m)} {nodes[m]:.0f} nodes and {cpu[m]:.1f} CPU seconds" for m in both]
        yield f"For all three quantiles together, {listed(costs)} on average."


def _draw(runs: Runs, r2: pd.DataFrame) -> Any:
    from experiments.analysis import drawing

    ordered = r2.sort_values(PRUNED)
    with drawing.look():
        figure = drawing.canvas(5.6, 0.9 + 0.22 * len(ordered))
        axes = figure.subplots()
        places = range(len(ordered))
        for method in (*TREES, CEILING):
            look = drawing.mark_of(method)
            face = look.colour if method != CEILING else "#ffffff"
            mark: dict[str, Any] = {"marker": look.marker, "color": look.colour}
            axes.plot(
                ordered[method],
                places,
                ls="",
                label=runs.name(method),
                markersize=5,
                markerfacecolor=face,
                **mark,
            )
        axes.set_yticks(list(places), [runs.name(slug) for slug in ordered.index])
        axes.set_xlabel("Mean test R²")
        drawing.quiet(axes, left=False)
        figure.legend(loc="outside lower center", ncols=2)
        return figure


QUESTIONS = {35: answer}
