"""Which small tree should I use: learners of one tree, of any size and of equal size.

Means are over the datasets on which every learner that has a line finished all its trials, so
that nobody is judged on easier ones. A learner that finished too few of them has no line; tests
against one learner pair the datasets that the two share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from experiments.analysis import pairwise, stats
from experiments.analysis.answer import Answer, Figure, Format, Table
from experiments.analysis.declared import learner_order
from experiments.analysis.grids import cells, cells_of
from experiments.analysis.pairwise import contrast, interval, listed, means
from experiments.analysis.printed import Printed
from experiments.analysis.ranks import mean_of
from experiments.analysis.runs import Runs
from experiments.analysis.stats import FEWEST_DATASETS, LEVEL

ORDER = 30
READINGS = {
    "small-trees": "free size",
    "small-trees-8": "at most 8 leaves",
    "small-trees-16": "at most 16 leaves",
    "small-trees-32": "at most 32 leaves",
}
FREE = "small-trees"
PRUNED, CONTROL, CEILING = "cart-pruned", "cart-weighted-grid", "boosting"
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
MEASURES = {
    "test_log_loss": "log loss",
    "test_brier": "Brier",
    "tree_size": "nodes",
    "leaves": "leaves",
    "path_length": "path",
    "cpu": "CPU s",
}
SIGNS = "W-T-L"


def scores(runs: Runs, protocol: str, reading: str, kind: Kind | None = None) -> pd.DataFrame:
    """Mean test F1 of all trials, datasets (by slug) x learners; NaN where one is missing."""
    rows = runs.of(protocol, reading)
    own = {m: means(runs, (protocol, reading, m)) for m in learner_order(rows["method"])}
    wide = pd.DataFrame({method: series for method, series in own.items() if len(series)})
    inside = [s for s in sorted(wide.index) if kind is None or kind(runs.datasets[s])]
    return wide.loc[inside].dropna(axis=1, how="all")


def shared(wide: pd.DataFrame) -> pd.DataFrame:
    """The learners that finished enough datasets, on those that all of them finished."""
    counts = wide.notna().sum()
    return wide.loc[:, counts >= FEWEST_SHARE * counts.max()].dropna() if len(wide) else wide


def mean_ranks(wide: pd.DataFrame) -> pd.Series:
    """Mean rank over datasets among the trees; boosting is none."""
    trees = wide.drop(columns=CEILING, errors="ignore")
    ranks = rankdata(-trees.to_numpy().round(stats.TIED_DECIMALS), axis=1)
    return pd.Series(ranks.mean(axis=0), index=trees.columns)


def lines(runs: Runs) -> pd.DataFrame:
    """One learner in one reading: F1, rank, other measures, share of boosting's F1."""
    found = []
    for protocol in PROTOCOLS:
        for group, kind in GROUPS.items():
            for reading in READINGS:
                own = shared(scores(runs, protocol, reading, kind))
                if len(own) < FEWEST_DATASETS:
                    continue
                ranks = mean_ranks(own)
                top = scores(runs, protocol, FREE, kind).get(CEILING, pd.Series(dtype=float))
                top = top.reindex(own.index)
                for method in own.columns:
                    estimate, low, high = stats.bootstrap(own[method].to_numpy())
                    line = {"method": method, "reading": reading, "protocol": protocol}
                    line |= {"group": group, "n": len(own), "F1": estimate}
                    line |= {"low": low, "high": high, "rank": ranks.get(method)}
                    line |= _measures(runs, protocol, reading, method, list(own.index))
                    share = None if top.isna().any() else estimate / mean_of(top)
                    found.append({**line, "of boosting": share})
    return pd.DataFrame(found)


def _measures(
    runs: Runs, protocol: str, reading: str, method: str, slugs: list[str]
) -> dict[str, float | None]:
    """Means over these datasets; ``None`` where one has no such number."""
    found = {}
    for metric in MEASURES:
        if metric == "cpu":  # with what an earlier fit has done for this one too
            rows = runs.of(protocol, reading)
            rows = rows[rows["method"] == method]
            cpu = rows["cpu_seconds"] + rows["shared_seconds"].fillna(0.0)
            own = cells_of(rows.assign(cpu=cpu), "cpu")["mean"]
        else:
            own = cells(runs, protocol, reading, metric)["mean"]
        values = [own.get((slug, method), np.nan) for slug in slugs]
        found[metric] = None if np.isnan(values).any() else mean_of(values)
    return found


def tests(runs: Runs) -> pd.DataFrame:
    """Each learner against pruned CART and against the control, over the datasets both finished."""
    found = []
    for protocol in PROTOCOLS:
        for group, kind in GROUPS.items():
            for reading in READINGS:
                own = scores(runs, protocol, reading, kind)
                for against in (PRUNED, CONTROL):
                    for method in own.columns if against in own else ():
                        repeated = against == CONTROL and method == PRUNED
                        if method in (against, CEILING) or repeated:
                            continue
                        line = contrast((own[method] - own[against]).dropna())
                        if line is not None:
                            place = {"method": method, "against": against, "reading": reading}
                            found.append({**place, "protocol": protocol, "group": group, **line})
    return pairwise.with_holm(found)


def families(runs: Runs) -> pd.DataFrame:
    """Each learner against pruned CART over all datasets under ``clean``: one family per size."""
    parts = []
    for reading in READINGS:
        wide = scores(runs, PROTOCOLS[0], reading)
        if PRUNED not in wide:
            continue
        own, found = shared(wide), []
        ranks = mean_ranks(own) if len(own) else pd.Series(dtype=float)
        for method in wide.columns:
            if method in (PRUNED, CEILING):
                continue
            line = contrast((wide[method] - wide[PRUNED]).dropna())
            if line is not None:
                sides = [(PROTOCOLS[0], reading, each) for each in (method, PRUNED)]
                auc = pairwise.differences(runs, *sides, metric="test_roc_auc")
                auc = auc[auc.index.isin(wide.index)]
                place = {"method": method, "reading": reading, "rank": ranks.get(method)}
                extra = {"pruned rank": ranks.get(PRUNED), "ranked": len(own)}
                won, lost = int((auc > stats.TIE).sum()), int((auc < -stats.TIE).sum())
                more = {"auc": auc.mean(), "auc won": won, "auc lost": lost}
                more["auc signs"] = f"{won}-{len(auc) - won - lost}-{lost}"
                found.append({**place, **extra, **line, **more})
        parts.append(pairwise.with_holm(found))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def situations(runs: Runs) -> pd.DataFrame:
    """Mean F1 under ``clean`` by kind of dataset, the paper's and the fresh ones together."""
    rows = []
    for situation, kind in SITUATIONS.items():
        for reading, words in READINGS.items():
            own = shared(scores(runs, PROTOCOLS[0], reading, kind))
            if len(own) >= FEWEST_DATASETS:
                row = {"Situation": situation, "Reading": words, "n": len(own)}
                rows.append(row | {m: mean_of(own[m]) for m in own.columns})
    return pd.DataFrame(rows)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found = lines(runs)
    if found.empty:
        return None
    tested, family, kinds = tests(runs), families(runs), situations(runs)
    tables = [_family_table(runs, family), _lines_table(runs, found)]
    tables += [_tests_table(runs, tested), _situations_table(runs, kinds)]
    return Answer(
        "small-trees",
        "Which small tree should I use?",
        tuple(_sentences(runs, found, family)),
        tuple(table for table in tables if len(table.frame)),
        (Figure("small-trees", CAPTION, lambda: _draw(runs, found)),),
        shown=("small-trees-all",),
    )


def _signs(frame: pd.DataFrame) -> list[str]:
    columns = (frame["wins"], frame["ties"], frame["losses"])
    return [f"{w}-{t}-{l}" for w, t, l in zip(*columns, strict=True)]  # noqa: E741


INTERVAL = {"low": "95 % interval: low", "high": "95 % interval: high"}


def _lines_table(runs: Runs, found: pd.DataFrame) -> Table:
    named = {"method": "Learner", "reading": "Reading", "protocol": "Protocol", "group": "Datasets"}
    frame = found.assign(
        method=found["method"].map(runs.name), reading=found["reading"].map(READINGS)
    )
    limits = dict.fromkeys(INTERVAL.values(), Format(group="95 % interval"))
    return Table(
        "small-trees",
        "One small tree",
        "Mean test F1 over the datasets that every learner shown at a size finished, with a 95 % "
        "interval (bootstrap over datasets) and the mean rank among trees; log loss and Brier "
        "score (0 to 2) of the class shares in the leaves; tree size, conditions tested per row, "
        "CPU seconds including tuning; and F1 relative to boosting’s",
        frame.rename(columns={**named, **INTERVAL, **MEASURES}),
        formats={
            "n": Format(kind="count"),
            **limits,
            **dict.fromkeys(("rank", "path", "CPU s"), Format(2)),
            **dict.fromkeys(("nodes", "leaves"), Format(1)),
        },
    )


def _tests_table(runs: Runs, found: pd.DataFrame) -> Table:
    columns = {
        **{"method": "Learner", "against": "Against", "reading": "Reading"},
        **{"protocol": "Protocol", "group": "Datasets", "n": "n", "difference": "difference"},
        **{**INTERVAL, SIGNS: SIGNS, "p": "p", "holm": "p (Holm)"},
    }
    frame = found.assign(**{SIGNS: _signs(found)}, reading=found["reading"].map(READINGS))
    frame = frame.assign(**{name: frame[name].map(runs.name) for name in ("method", "against")})
    return Table(
        "small-trees-tests",
        "Small trees against pruned CART and against the control",
        "Mean difference of test F1 over the datasets that both finished, with a 95 % interval "
        "(paired bootstrap over datasets), wins-ties-losses, and Wilcoxon’s p, uncorrected and "
        "with Holm’s correction over this table",
        frame[list(columns)].rename(columns=columns),
        formats={"n": Format(kind="count"), **pairwise.formats(signs=("", "", ""))},
    )


def _family_table(runs: Runs, found: pd.DataFrame) -> Table:
    columns = {
        **{"method": "Learner", "reading": "Size", "n": "datasets", "rank": "mean rank"},
        **{"difference": "difference", **INTERVAL, SIGNS: SIGNS, "holm": "p (Holm)"},
        **{"auc": "ROC AUC: difference", "auc signs": f"ROC AUC: {SIGNS}"},
    }
    frame = found.assign(**{SIGNS: _signs(found)}, reading=found["reading"].map(READINGS))
    auc = {"ROC AUC: difference": Format(kind="change", group="ROC AUC")}
    auc[f"ROC AUC: {SIGNS}"] = Format(kind="text", group="ROC AUC")
    return Table(
        "small-trees-all",
        "One small tree against pruned CART",
        "Protocol clean, all datasets: mean test F1 minus that of CART (pruned), with a 95 % "
        "interval (paired bootstrap over datasets), wins-ties-losses and Wilcoxon’s p with Holm’s "
        "correction over the learners of a size; mean rank over the datasets that all learners "
        "have; and the same difference in ROC AUC",
        frame.assign(method=frame["method"].map(runs.name))[list(columns)].rename(columns=columns),
        formats={
            "datasets": Format(kind="count"),
            "mean rank": Format(1),
            **pairwise.formats(signs=("", "", "")),
            **auc,
        },
    )


def _situations_table(runs: Runs, found: pd.DataFrame) -> Table:
    methods = learner_order(found.columns[3:])
    return Table(
        "small-trees-situations",
        "Small trees by situation",
        "Mean test F1 under protocol clean over the paper’s and the fresh datasets of a kind that "
        "every learner shown at a size finished",
        found[[*found.columns[:3], *methods]].rename(columns={m: runs.name(m) for m in methods}),
        formats={"n": Format(kind="count")},
        best_in_row="max",
    )


def _sentences(runs: Runs, found: pd.DataFrame, family: pd.DataFrame) -> list[str]:
    sentences = []
    if len(family):
        better = family[(family["holm"] < LEVEL) & (family["difference"] > 0)]
        who = [
            f"{runs.name(row['method'])} at {READINGS[row['reading']]} ({interval(row)})"
            for row in better.to_dict("records")
        ]
        sentences.append(
            f"{runs.name(PRUNED)}: of {family['method'].nunique()} other learners "
            + (f"only {listed(who)} is" if who else "none is")
            + f" significantly better in F1 at any size (protocol clean, {family['n'].max()} "
            "datasets, Holm’s correction within a size)."
        )
        told = []
        for reading, own in family.dropna(subset="rank").groupby("reading", sort=False):
            ranks = own.set_index("method")["rank"].to_dict()
            ranks[PRUNED] = own["pruned rank"].iloc[0]
            chosen = [PRUNED, "gradtree-tuned", "gradtree-new-defaults", "gradtree"]
            first = min(ranks, key=lambda method: ranks[method])
            names = dict.fromkeys([first, *(m for m in chosen if m in ranks)])
            listing = ", ".join(f"{runs.name(m)} {ranks[m]:.1f}" for m in names)
            told.append(f"{READINGS[str(reading)]}: {listing}")
        sentences.append(
            f"Mean rank over {family['ranked'].max()} datasets, best first: {'; '.join(told)}."
        )
        free = family[family["reading"] == FREE].set_index("method")
        told_apart = free[free["auc won"] + free["auc lost"] > 0]
        share = told_apart["auc won"] / (told_apart["auc won"] + told_apart["auc lost"])
        if len(share) and share.max() > 0.5:
            best = free.loc[share.idxmax()]
            sentences.append(
                f"Where probabilities matter it is not the best: {runs.name(str(best.name))} is "
                f"above it in ROC AUC on {best['auc won']} datasets and below on "
                f"{best['auc lost']} ({best['auc']:+.3f} on average, free size)."
            )
        worse = family[(family["holm"] < LEVEL) & (family["difference"] < 0)]
        for method in ("gradtree", "gradtree-new-defaults", "gradtree-tuned"):
            own = worse[worse["method"] == method]
            sizes = [
                f"{row['difference']:+.3f} ({READINGS[row['reading']]})"
                for row in own.to_dict("records")
            ]
            if sizes:
                sentences.append(f"{runs.name(method)} is significantly worse: {listed(sizes)}.")
    free = found[
        (found["protocol"] == PROTOCOLS[0]) & (found["reading"] == FREE) & found["cpu"].notna()
    ]
    timed = free[(free["group"] == next(iter(GROUPS))) & (free["method"] != CEILING)]
    parts = [f"{runs.name(r.method)} {r.cpu:.1f}" for r in timed.sort_values("cpu").itertuples()]
    if parts:
        sentences.append(f"CPU seconds of a fit with its tuning, free size: {', '.join(parts)}.")
    return [*sentences, *_distilled(runs)]


DISTILLED = "small_trees/distilled.csv"
LEAST_GAIN = 0.005
"""In mean test F1 at some size, of what would stay; with less, it is not worth its code."""


def _distilled(runs: Runs) -> list[str]:
    """Why the distilled tree is no learner of the suite: its recorded scores minus the control's."""
    from experiments.runs.archive import COMMITTED

    path = COMMITTED.parent / DISTILLED
    if not path.is_file():
        return []
    rows = pd.read_csv(path)
    rows = rows[rows["version"] == "estimator"]
    parts, gains = [], []
    for reading, own in rows.groupby("reading", sort=False):
        mine = own.groupby("dataset")["test_f1"].agg(lambda values: mean_of(list(values)))
        gap = (mine - means(runs, (PROTOCOLS[0], str(reading), CONTROL))).dropna()
        line = contrast(gap)
        if line is not None:
            gains.append(line["difference"])
            parts.append(f"{READINGS[str(reading)]} {interval(line)}")
    if not parts:
        return []
    verdict = "no code stayed" if max(gains) <= LEAST_GAIN else "it should be kept"
    return [
        "A distilled tree, which learns a forest’s probabilities, was tried on the fresh datasets; "
        f"F1 minus that of {runs.name(CONTROL)}: {', '.join(parts)}. More than {LEAST_GAIN:+.3f} "
        f"at some size was asked, so {verdict}."
    ]


CAPTION = (
    "Protocol clean, mean over the datasets that all learners shown finished: at most 8, 16 and 32 "
    "leaves, and free size (hollow). The dashed line is boosting’s F1."
)


def _draw(runs: Runs, found: pd.DataFrame) -> Any:
    from experiments.output import figures

    own = found[found["protocol"] == PROTOCOLS[0]]
    groups = list(dict.fromkeys(own["group"]))
    with figures.look():
        figure = figures.canvas(6.2, 3.0)
        panels = figure.subplots(1, len(groups), squeeze=False)[0]
        for axes, group in zip(panels, groups, strict=True):
            part = own[own["group"] == group]
            for method in dict.fromkeys(part["method"]):
                line = part[part["method"] == method].sort_values("leaves")
                if method == CEILING:
                    axes.axhline(line["F1"].iloc[0], color=figures.INK, ls=(0, (3, 2)), lw=0.8)
                    continue
                look = figures.mark_of(method)
                mark = {"color": look.colour, "marker": look.marker, "markersize": 3.5}
                axes.plot(line["leaves"], line["F1"], label=runs.name(method), lw=0.9, **mark)
                free = line[line["reading"] == FREE]
                axes.plot(free["leaves"], free["F1"], ls="", markerfacecolor="#ffffff", **mark)
            axes.set_xscale("log")
            figures.plain_numbers(axes.xaxis, threes=True)
            axes.set_title(group.capitalize())
            axes.set_xlabel("Mean number of leaves")
            figures.quiet(axes)
        panels[0].set_ylabel("Mean test F1")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        return figure
