"""GradTree against variants of itself: other ways to select a feature, and the new defaults.

The authors' program predicts with the function that it trained with. For ST Gumbel softmax that
function adds fresh noise, so a node of the finished tree tests its own feature with some
probability only. The printed column is that of such trees (``gradtree-gumbel``); the same trees,
predicted as they are, are ``gradtree-gumbel-noise-free``.
"""

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
import pandas as pd

from experiments.analysis import pairwise
from experiments.analysis.answer import Answer, Table, tables
from experiments.analysis.pairwise import PROTOCOLS, by_task, contrast, interval, listed, rows, told
from experiments.analysis.printed import SCOPES, Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import LEVEL
from experiments.runs import archive

NOISY, NOISE_FREE, ANNEALED = "gradtree-gumbel", "gradtree-gumbel-noise-free", "gradtree-annealed"
OTHERS = {NOISY: "with noise, as printed", NOISE_FREE: "without", ANNEALED: "temperature annealing"}
EXPERIMENT, NEW = "new-defaults", "gradtree-new-defaults"
CHOICES = {
    "gradtree": ("all defaults", "GradTree as published"),
    "cart": ("all defaults", "CART"),
    f"{NEW}-learned-leaves": ("leaves refitted on all rows", "learned leaves"),
    f"{NEW}-by-loss": ("run and epoch chosen by F1", "chosen by loss"),
    f"{NEW}-four-long-runs": ("sixteen short runs", "four long runs"),
    f"{NEW}-slow-leaves": ("leaf rate 0.2", "the paper's leaf rate"),
    f"{NEW}-sigmoid": ("softsign splits", "sigmoid splits"),
    f"{NEW}-glorot": ("first thresholds at quantiles", "around zero"),
    f"{NEW}-free-leaves": ("a price per leaf", "no price"),
}
"""Learner -> what the new defaults do, and what it does instead."""
STORY, EQUAL = "same-story", "equal-size"
OURS, AS_LARGE = "gradtree-estimator", "cart-equal-size"
STEADY = (NEW, OURS, AS_LARGE, "cart-pruned")
MEASURES = ["test_f1", "test_accuracy", "test_roc_auc", "test_log_loss", "tree_size"]


def selectors(runs: Runs, printed: Printed, protocol: str = "paper") -> pd.DataFrame:
    """ST entmax minus each other selector; Holm's correction is over the lines of either."""
    parts = []
    for other, words in OTHERS.items():
        places = []
        for setting in ("tuned", "default"):
            line = {"other": other, "words": words, "setting": setting}
            place = (protocol, f"ablation-{setting}")
            places.append((line, (*place, "gradtree"), (*place, other)))
        parts.append(by_task(runs, printed, places))
    return pd.concat(parts, ignore_index=True)


def feature_selection(runs: Runs, printed: Printed) -> Answer | None:
    made, sentences = list[Table](), list[str]()
    for protocol in PROTOCOLS:
        found = selectors(runs, printed, protocol)
        if found.empty or NOISE_FREE not in set(found["other"]):
            continue  # one way of predicting alone compares nothing
        sentences = sentences or [*_selected(found)]
        annealed = found["other"] == ANNEALED
        frames = {"selectors": found[~annealed], "selectors-annealing": found[annealed]}
        made += tables(frames, protocol="" if protocol == "paper" else protocol)
    title = "Is ST entmax the better way to select features?"
    return Answer("gumbel", title, sentences, made) if made else None


def _selected(found: pd.DataFrame) -> Iterator[str]:
    found = found[found["scope"] != "all"]
    ahead = {other: own["low"] > 0 for other, own in found.groupby("other")}
    free = ahead[NOISE_FREE]
    word = "Yes" if free.all() else "Only in part" if free.any() else "No"
    by = {o: told(rows(found, other=o), "on {scope} data ({setting})") for o in OTHERS}
    yield from (
        f"{word}: predicted without noise, ST entmax is ahead of ST Gumbel softmax in "
        f"{free.sum()} of {len(free)} comparisons (95 % interval above zero): {by[NOISE_FREE]}.",
        "The printed ST Gumbel softmax column is that of trees to which the authors' program adds "
        f"noise once more when they predict; ST entmax leads it by {by[NOISY]}.",
    )
    if ANNEALED in ahead:
        yield (
            f"Of temperature annealing it is ahead in {ahead[ANNEALED].sum()} of "
            f"{len(ahead[ANNEALED])}: {by[ANNEALED]}."
        )


def new_defaults(runs: Runs, printed: Printed) -> Answer | None:
    """The new defaults minus each other learner, by protocol and task; mean nodes of both."""
    places = []
    for (method, (choice, instead)), protocol in product(CHOICES.items(), PROTOCOLS):
        line = {"method": method, "choice": choice, "instead": instead, "protocol": protocol}
        places.append((line, (protocol, EXPERIMENT, NEW), (protocol, EXPERIMENT, method)))
    found = by_task(runs, printed, places, "tree_size")
    if found.empty:
        return None
    title = "Are GradTree's new defaults better than the published ones?"
    return Answer(EXPERIMENT, title, [*_worth(found)], tables({EXPERIMENT: found}))


def _worth(found: pd.DataFrame) -> Iterator[str]:
    whole = found[found["scope"] == "all"]
    last = whole[whole["protocol"] == whole["protocol"].iloc[-1]].set_index("method", drop=False)
    words = "under protocol {protocol}"
    gains = rows(whole, method="gradtree")
    word = "Yes" if gains and all(line["low"] > 0 for line in gains) else "Not shown"
    yield f"{word}: they change test F1 by {told(gains, words)}."
    if cart := rows(whole, method="cart"):
        yield f"From CART's default they differ by {told(cart, words)}."
    for line in rows(last, method="gradtree"):
        yield (
            f"The trees have {line['mine']:.0f} nodes on average instead of "
            f"{line['theirs']:.0f} (protocol {line['protocol']})."
        )
    single = last[last.index.str.startswith(NEW)]
    if len(single):
        sure = rows(single[single["holm"] < LEVEL])
        parts = told(sure, "for {choice} instead of {instead}") or "none"
        yield (
            f"Of {len(single)} choices set back one at a time {len(sure)} made a significant "
            f"difference (protocol {last['protocol'].iloc[0]}): {parts}."
        )
    yield (
        "The choices were made on other runs of the same datasets; validation rows choose runs "
        "and epochs, and no choice of a fit sees test rows."
    )


def steadiness(runs: Runs) -> pd.DataFrame:
    """Learners over seeds: mean scores, nodes and agreement, over datasets that all finished."""
    fits = runs.of("clean", STORY)
    fits = fits[fits["status"] == "ok"].assign(agreement=0.0)
    kept = archive.predictions_of(runs.store, set(fits["key"]))
    for _, own in fits.groupby(["method", "dataset", "trial"]):
        drawn = [kept[key].predicted for key in own["key"] if key in kept]
        pairs = [(one == other).mean() for one, other in combinations(drawn, 2)]
        fits.loc[own.index, "agreement"] = np.mean(pairs) if pairs else np.nan
    places = fits.groupby(["method", "dataset"])
    whole = places.size().unstack("method").dropna()
    whole = whole[whole.eq(whole.max().max()).all(axis=1)].index
    each = places[[*MEASURES, "agreement"]].mean().reset_index()
    each = each[each["dataset"].isin(whole)]
    each["scope"] = [runs.datasets[slug]["task"] for slug in each["dataset"]]
    both = pd.concat([each, each.assign(scope="all")]).groupby(["scope", "method"], sort=False)
    found = both[[*MEASURES, "agreement"]].mean().assign(n=both.size())
    order = pd.MultiIndex.from_product([("binary", "multi", "all"), STEADY])
    return found.reindex([place for place in order if place in found.index]).reset_index()


def equal_size(runs: Runs) -> pd.DataFrame:
    """The estimator beside CART with as many leaves: means over trials and seeds by dataset."""
    mine, theirs = ("clean", STORY, OURS), ("clean", STORY, AS_LARGE)
    found = pd.DataFrame({"difference": pairwise.differences(runs, mine, theirs)})
    found["scope"] = [runs.datasets[slug]["task"] for slug in found.index]
    found["leaves"] = pairwise.means(runs, mine, "leaves")
    found["mine"], found["theirs"] = (pairwise.means(runs, side) for side in (mine, theirs))
    found = found.sort_values(["scope", "difference"]).rename(runs.name)
    return found.reset_index(names="dataset")


def same_story(runs: Runs, printed: Printed) -> Answer | None:
    found, sizes = steadiness(runs), equal_size(runs)
    if found.empty:
        return None
    lines = found[found["scope"] == "all"]
    parts = [
        f"{runs.name(line.method)} {100 * line.agreement:.1f} % (test F1 {line.test_f1:.3f}, "
        f"{line.tree_size:.0f} nodes)"
        for line in lines.dropna().itertuples()
    ]
    sentences = [
        f"On average over {lines['n'].iloc[0]} datasets (protocol clean), two seeds agree on so "
        f"many test rows: {', '.join(parts)}."
    ]
    tasks = sizes.groupby("scope")["difference"]
    known = [(SCOPES[task], line) for task, own in tasks if (line := contrast(own))]
    if known:
        gaps = listed([f"{interval(x)} on {x['n']} {scope} datasets" for scope, x in known])
        sentences.append(f"From CART with as many leaves GradTreeClassifier differs by {gaps}.")
    frames = {STORY: found, EQUAL: sizes if known else sizes.iloc[:0]}
    title = "Do other seeds give the same tree, and how good is it for its size?"
    return Answer(STORY, title, sentences, tables(frames, runs.name))


QUESTIONS = {50: new_defaults, 55: same_story, 80: feature_selection}
