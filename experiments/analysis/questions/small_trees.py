"""Which small tree should I use: learners of one tree, of any size and of equal size.

Means are over the datasets on which every learner that has a line finished all its trials; who
finished too few has no line. Tests against pruned CART pair the datasets that the two share.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import Any

import pandas as pd

from experiments.analysis import pairwise, stats
from experiments.analysis.answer import Answer, figure, tables
from experiments.analysis.grids import cells_of, in_order
from experiments.analysis.pairwise import contrast, listed, rows
from experiments.analysis.printed import Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import FEWEST_DATASETS, LEVEL, mean_of

READINGS = {
    "small-trees": "free size",
    "small-trees-8": "at most 8 leaves",
    "small-trees-16": "at most 16 leaves",
    "small-trees-32": "at most 32 leaves",
}
FREE, SMALLEST = "small-trees", "small-trees-8"
PRUNED, CEILING = "cart-pruned", "boosting"
GRADTREES = ("gradtree", "gradtree-new-defaults", "gradtree-tuned")
PROTOCOLS = ("clean", "paper")
Kind = Callable[[Mapping[str, Any]], bool]
GROUPS: dict[str, Kind] = {
    "the paper’s datasets": lambda facts: facts["in_paper"],
    "fresh datasets": lambda facts: not facts["in_paper"],
}
SITUATIONS: dict[str, Kind] = {
    "binary": lambda facts: facts["task"] == "binary",
    "three or more classes": lambda facts: facts["task"] == "multi",
    "five or more classes": lambda facts: len(facts["class_counts"]) >= 5,
    "fewer than 500 rows": lambda facts: facts["n_rows"] < 500,
    "five or more categorical columns": lambda facts: len(facts["categorical"]) >= 5,
}
FEWEST_SHARE = 0.75
"""Of the datasets that anyone finished. Who finished fewer has no line, and shortens nobody's."""
MEASURES = ("test_log_loss", "test_brier", "tree_size", "leaves", "path_length", "cpu")


def scores(runs: Runs, protocol: str, reading: str, kind: Kind = lambda _: True) -> pd.DataFrame:
    """Mean test F1 of all trials, datasets (by slug) x learners; NaN where one is missing."""
    wide = pairwise.scores(runs, protocol, reading)
    inside = [slug for slug in wide.index if kind(runs.datasets[slug])]
    return wide.loc[inside, in_order(wide.columns)].dropna(axis=1, how="all")


def shared(wide: pd.DataFrame) -> pd.DataFrame:
    """The learners that finished enough datasets, on those that all of them finished."""
    counts = wide.notna().sum()
    return wide.loc[:, counts >= FEWEST_SHARE * counts.max()].dropna() if len(wide) else wide


def mean_ranks(wide: pd.DataFrame) -> pd.Series:
    """Mean rank over datasets among the trees; boosting is none."""
    trees = wide.drop(columns=CEILING, errors="ignore").astype(float)
    return trees.round(stats.TIED_DECIMALS).rank(axis=1, ascending=False).mean()


@lru_cache(maxsize=8)
def measured(runs: Runs, protocol: str, reading: str) -> dict[str, pd.DataFrame]:
    """Means over trials of the other measures, datasets x learners."""
    fits = runs.of(protocol, reading)
    fits = fits.assign(cpu=fits["cpu_seconds"] + fits["shared_seconds"].fillna(0.0))
    return {name: cells_of(fits, name)["mean"].unstack("method") for name in MEASURES}


def lines(runs: Runs) -> pd.DataFrame:
    """One learner in one reading: F1, rank, other measures, share of boosting's F1."""
    found = []
    for protocol, (group, kind), reading in product(PROTOCOLS, GROUPS.items(), READINGS):
        own = shared(scores(runs, protocol, reading, kind))
        ranks, others = mean_ranks(own), measured(runs, protocol, reading)
        top = scores(runs, protocol, FREE, kind).reindex(own.index, columns=[CEILING])
        place = {"reading": reading, "words": READINGS[reading], "protocol": protocol}
        for method in own.columns if len(own) >= FEWEST_DATASETS else ():
            line: pairwise.Line = {**place, "method": method, "group": group, "n": len(own)}
            line |= dict(zip(("F1", "low", "high"), stats.t_interval(own[method]), strict=True))
            line |= {"of boosting": line["F1"] / mean_of(top[CEILING])}
            line |= {name: mean_of(each.loc[own.index, method]) for name, each in others.items()}
            found.append({**line, "rank": ranks.get(method)})
    return pd.DataFrame(found)


def families(runs: Runs) -> pd.DataFrame:
    """Each learner against pruned CART over all datasets under ``clean``: one family per size."""
    parts = []
    for reading, words in READINGS.items():
        wide = scores(runs, PROTOCOLS[0], reading)
        own, found = shared(wide), []
        ranks = mean_ranks(own)
        rivals = wide.columns.difference([PRUNED, CEILING], sort=False) if PRUNED in wide else ()
        for method in rivals:
            mine, other = ((PROTOCOLS[0], reading, str(each)) for each in (method, PRUNED))
            auc = pairwise.differences(runs, mine, other, "test_roc_auc")
            line = {"method": method, "reading": reading, "words": words, "auc": auc.mean()}
            line |= {"rank": ranks.get(method), "pruned rank": ranks.get(PRUNED)}
            line |= {f"auc {name}": value for name, value in pairwise.signs(list(auc)).items()}
            gaps = (wide[method] - wide[PRUNED]).dropna()
            found.append(({**line, "ranked": len(own)}, contrast(gaps)))
        parts.append(pairwise.contrasts(found))
    return pd.concat(parts, ignore_index=True)


def situations(runs: Runs) -> pd.DataFrame:
    """Mean F1 under ``clean`` by kind of dataset, the paper's and the fresh ones together."""
    found = []
    for situation, reading in product(SITUATIONS, READINGS):
        own = shared(scores(runs, PROTOCOLS[0], reading, SITUATIONS[situation]))
        if len(own) >= FEWEST_DATASETS:
            row = {"Situation": situation, "Reading": READINGS[reading], "n": len(own)}
            found.append(row | {m: mean_of(own[m]) for m in own.columns})
    return pd.DataFrame(found)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found, family, kinds = lines(runs), families(runs), situations(runs)
    if found.empty:
        return None
    kinds = kinds[[*kinds.columns[:3], *in_order(kinds.columns[3:])]].rename(columns=runs.name)
    one = family[family["method"] == "small-tree"]
    frames = {f"{FREE}-all": family, f"{FREE}-one-call": one}
    frames |= {FREE: found, f"{FREE}-situations": kinds}
    made, drawn = tables(frames, runs.name), figure(FREE, lambda: _draw(runs, found))
    sentences, title = [*_sentences(runs, found, family)], "Which small tree should I use?"
    return Answer(FREE, title, sentences, made, [drawn], [made[0].name])


def _sentences(runs: Runs, found: pd.DataFrame, family: pd.DataFrame) -> Iterator[str]:
    if len(family):
        sure = family[family["holm"] < LEVEL]
        better = rows(sure[sure["difference"] > 0])
        who = [f"{runs.name(x['method'])} at {READINGS[x['reading']]}" for x in better]
        yield (
            f"{runs.name(PRUNED)}: of {family['method'].nunique()} other learners "
            + (f"only {listed(who)} is" if who else "none is")
            + f" significantly better in F1 at any size (protocol clean, {family['n'].max()} "
            "datasets, Holm’s correction within a size)."
        )
        yield from _ranks(runs, family)
        yield from _auc(runs, family)
        for method in GRADTREES:
            worse = rows(sure[sure["difference"] < 0], method=method)
            if sizes := [f"{x['difference']:+.3f} ({READINGS[x['reading']]})" for x in worse]:
                yield f"{runs.name(method)} is significantly worse: {listed(sizes)}."
    place = {"protocol": PROTOCOLS[0], "reading": FREE, "group": next(iter(GROUPS))}
    timed = found[found["method"] != CEILING].dropna(subset="cpu").sort_values("cpu")
    if cpu := [(line["method"], line["cpu"]) for line in rows(timed, **place)]:
        told = f"free size, {place['group']}: {runs.told(cpu, '.1f')}"
        yield f"CPU seconds of a fit with its tuning, {told}."


def _ranks(runs: Runs, family: pd.DataFrame) -> Iterator[str]:
    """Mean ranks over datasets of the best learner, pruned CART and GradTree, by size."""
    parts = []
    ranked = family[family["reading"].isin([FREE, SMALLEST])].dropna(subset="rank")
    for reading, own in ranked.groupby("reading", sort=False):
        ranks = own.set_index("method")["rank"].to_dict()
        ranks[PRUNED] = own["pruned rank"].iloc[0]
        shown = dict.fromkeys([min(ranks, key=ranks.__getitem__), PRUNED, *GRADTREES[::-1]])
        told = runs.told(((method, ranks[method]) for method in shown if method in ranks), ".1f")
        parts.append(f"{READINGS[str(reading)]}: {told}")
    if parts:
        n = family["ranked"].max()
        yield f"Mean rank over {n} datasets, the best and some: {'; '.join(parts)}."


def _auc(runs: Runs, family: pd.DataFrame) -> Iterator[str]:
    """Who is above pruned CART in ROC AUC on most datasets that tell the two apart."""
    free = family[family["reading"] == FREE]
    share = free["auc wins"] / (free["auc wins"] + free["auc losses"])
    if share.max() > 0.5:
        best = free.loc[share.idxmax()]
        yield (
            f"Where probabilities matter it is not the best: {runs.name(best['method'])} is above "
            f"it in ROC AUC on {best['auc wins']} datasets and below on {best['auc losses']} "
            f"({best['auc']:+.3f} on average, free size)."
        )


def _draw(runs: Runs, found: pd.DataFrame) -> Any:
    from experiments.analysis import drawing

    own = found[found["protocol"] == PROTOCOLS[0]]
    groups = list(dict.fromkeys(own["group"]))
    figure = drawing.canvas(6.2, 3.0)
    panels = figure.subplots(1, len(groups), squeeze=False)[0]
    for axes, group in zip(panels, groups, strict=True):
        for method, part in own[own["group"] == group].groupby("method", sort=False):
            line = part.sort_values("leaves")
            if method == CEILING:
                axes.axhline(line["F1"].iloc[0], color=drawing.INK, ls=(0, (3, 2)), lw=0.8)
                continue
            colour, marker = drawing.mark_of(str(method))
            mark: Any = {"color": colour, "marker": marker, "markersize": 3.5}
            axes.plot(line["leaves"], line["F1"], label=runs.name(str(method)), lw=0.9, **mark)
            free = line[line["reading"] == FREE]
            axes.plot(free["leaves"], free["F1"], ls="", markerfacecolor="#ffffff", **mark)
        axes.set_xscale("log")
        drawing.plain_numbers(axes.xaxis, threes=True)
        axes.set_title(group.capitalize())
        axes.set_xlabel("Mean number of leaves")
        drawing.quiet(axes)
    panels[0].set_ylabel("Mean test F1")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


QUESTIONS = {30: answer}
