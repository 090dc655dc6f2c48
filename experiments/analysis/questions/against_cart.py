"""Should I use GradTree: against CART and pruned CART, by metric, protocol and settings.

In the primary comparison both are tuned inside the training rows of each trial: nothing of its test
rows takes part in any choice, and no label leaks into the features (protocol ``clean``). It is of
F1 on binary and on multi-class datasets, with Holm's correction over the two.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.analysis import pairwise
from experiments.analysis.answer import Answer, figure, table, tables
from experiments.analysis.grids import in_order
from experiments.analysis.pairwise import PROTOCOLS, Place, Side, estimate, listed, rows, told
from experiments.analysis.printed import SCOPES, TASKS, Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import LEVEL
from experiments.runs.archive import COMMITTED

RIVALS = {"cart": "cart-nested", "cart-pruned": "cart-pruned"}
"""Whom GradTree is held against -> the same tuned inside each trial."""
SETTINGS = {"tuned": "published hyperparameters", "default": "default hyperparameters"}
NESTED, MINE = ("clean", "nested"), "gradtree-nested"
INSIDE = "hyperparameters tuned inside each trial"
OWN = (MINE, "gradtree-tuned")
"""GradTree as published and with the new defaults, both tuned in every trial."""
METRICS = {
    "test_f1": "F1",
    "test_balanced_accuracy": "balanced accuracy",
    "test_roc_auc": "ROC AUC",
    "test_log_loss": "log loss",
    "test_brier": "Brier score",
}
LOSSES = ("test_log_loss", "test_brier")
"""Metrics of which less is better: their differences are turned round."""
TINY = ("zoo", "lymphography")
"""Datasets with classes of two to five rows."""
FITS = Path("bench") / "interactions.csv"
"""Of a store, or of the folder of results."""
MARGIN, MOST_NODES = 0.02, 30


def advantage(runs: Runs, mine: Side, other: Side, metric: str = "test_f1") -> dict[str, pd.Series]:
    """By task and dataset, how much better the first is; datasets in the order of the tables."""
    gaps = pairwise.differences(runs, mine, other, metric)
    gaps = gaps.loc[in_order(gaps.index, "datasets")] * (-1 if metric in LOSSES else 1)
    tasks = gaps.index.map(lambda slug: runs.datasets[slug]["task"])
    return {task: gaps[tasks == task] for task in TASKS} | {"all": gaps}


def primary(runs: Runs) -> pd.DataFrame:
    """The two tests of the primary comparison; empty until both tasks have enough datasets."""
    gaps = advantage(runs, (*NESTED, MINE), (*NESTED, RIVALS["cart"]))
    lines = pairwise.contrasts(({"scope": task}, estimate(gaps[task])) for task in TASKS)
    return lines if len(lines) == len(TASKS) else pd.DataFrame()


def estimates(
    runs: Runs, places: Iterable[Place], scopes: Iterable[str], tiny: Sequence[str] = ()
) -> pd.DataFrame:
    """How much better the first sides are, by metric and task, also without ``tiny`` datasets."""
    lines = []
    for (place, mine, other), (metric, word) in product(places, METRICS.items()):
        gaps = advantage(runs, mine, other, metric)
        for scope, whole in product(scopes, (True, False)):
            own = gaps[scope] if whole else gaps[scope].drop(list(tiny), errors="ignore")
            if whole or len(own) < len(gaps[scope]):
                subset = "all" if whole else "without Zoo and Lymphography"
                line = {**place, "metric": word, "scope": scope, "subset": subset}
                lines.append((line, estimate(own, metric not in LOSSES)))
    return pairwise.contrasts(lines)


def places() -> Iterator[Place]:
    """Who is compared with whom, by rival, setting and protocol. Pruned CART chooses its own size,
    so its default run stands beside every setting.
    """
    for rival, nested in RIVALS.items():
        line = {"against": rival, "setting": INSIDE, "protocol": NESTED[0]}
        yield line, (*NESTED, MINE), (*NESTED, nested)
        for setting, protocol in product(SETTINGS, PROTOCOLS[::-1]):
            theirs = "default" if rival == "cart-pruned" else setting
            line = {"against": rival, "setting": SETTINGS[setting], "protocol": protocol}
            yield line, (protocol, setting, "gradtree"), (protocol, theirs, rival)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found, lines = estimates(runs, places(), TASKS, TINY), primary(runs)
    if found.empty:
        return None
    whole = (found["against"] == "cart") & (found["subset"] == "all") & (found["metric"] == "F1")
    pairs = product(OWN, RIVALS.values())
    tuned = [({"method": m, "against": o}, (*NESTED, m), (*NESTED, o)) for m, o in pairs]
    made = [
        *tables({"nested-primary": lines}, runs.name, NESTED[0]),
        *tables({"use-summary": found[whole], "use": found}, runs.name),
        *tables({"nested": estimates(runs, tuned, SCOPES)}, runs.name, NESTED[0]),
    ]
    drawn = figure("gradtree-against-cart", lambda: _draw(found[whole]))
    sentences = [*_sentences(runs, found, lines), *_candidates(runs)]
    return Answer("use", "Should I use it?", sentences, made, [drawn], ["use-summary", "nested"])


def verdict(lines: pd.DataFrame) -> str:
    """What the tests of a comparison come to in a word or two."""
    sure = lines[lines["holm"] < LEVEL].replace({"scope": SCOPES})
    better, worse = (list(sure["scope"][sure["difference"] * sign > 0]) for sign in (1, -1))
    if worse and not better:
        return f"No, take CART, which is better on {listed(worse)} data"
    if better:
        return "It depends on the task" if worse else f"Yes, on {listed(better)} data"
    return "Not for F1: no difference from CART is shown"


def _sentences(runs: Runs, found: pd.DataFrame, lines: pd.DataFrame) -> list[str]:
    f1 = found[found["metric"] == "F1"]
    whole, nested = f1[f1["subset"] == "all"], found[found["setting"] == INSIDE]
    sentences = []
    if len(lines):
        shown = lines["holm"].map(lambda p: "p < 0.001" if p < 0.001 else f"p = {p:.3f}")
        by = told(rows(lines.assign(p=shown)), "on {n} {scope} datasets ({p})")
        spelled = rows(lines.replace({"scope": SCOPES}))
        limits = "between {new low:+.3f} and {new high:+.3f} ({scope})"
        chances = "{better:.2f}, {equivalent:.2f} and {worse:.2f} on {scope} data"
        sentences += [
            f"{verdict(lines)}: both tuned on the training rows of each trial, under "
            f"protocol `clean`, GradTree minus CART in macro F1 is {by}.",
            f"On one more dataset like these expect "
            f"{listed([limits.format(**line) for line in spelled])} (95 % prediction intervals).",
            "Probability that GradTree's median difference over datasets is above +0.01, within "
            "±0.01, below -0.01: "
            f"{'; '.join(chances.format(**line) for line in spelled)}.",
        ]
        cart = {"against": "cart", "subset": "all"}
        for words, sign in (("ROC AUC", ""), ("log loss", " (positive: GradTree's is lower)")):
            by = told(rows(nested, metric=words, **cart), "({scope}, {signs})")
            sentences.append(f"In {words}{sign}: {by}.")
    nested = f1[f1["setting"] == INSIDE]
    as_run = rows(whole, against="cart", protocol="paper", setting=SETTINGS["tuned"])
    fewer = rows(nested[nested["subset"] != "all"], against="cart")
    differs = {
        "As the paper ran it (published hyperparameters, with the leak) F1": as_run,
        "Without Zoo and Lymphography, with classes of two to five rows, it": fewer,
        f"From {runs.name('cart-pruned')} it": rows(nested, against="cart-pruned", subset="all"),
    }
    sentences += [f"{words} differs by {told(own)}." for words, own in differs.items() if own]
    others = told(rows(whole, against="cart"), "({setting}, protocol {protocol}, {scope} data)")
    return sentences or [f"GradTree minus CART in macro F1 is {others or 'not known yet'}."]


def _candidates(runs: Runs) -> list[str]:
    """How many candidates each trial drew, and where it drew fewer."""
    fits = runs.of(*NESTED)
    fits = fits[(fits["method"] == MINE) & (fits["status"] == "ok")]
    counts = [json.loads(extra or "{}").get("candidates", 0) for extra in fits["extra"]]
    drawn = pd.Series(counts, index=fits["dataset"], dtype=int).groupby(level=0).max()
    if drawn.empty:
        return []
    fewer = drawn[drawn < drawn.max()]
    where = f"; {fewer.max()} on {listed(list(map(runs.name, fewer.index)))}" if len(fewer) else ""
    return [
        f"Each trial draws {drawn.max()} random candidates per learner, compared in inner folds"
        f"{where}; GradTree's winner is fitted with restarts, as the authors did."
    ]


def _draw(found: pd.DataFrame) -> Any:
    from experiments.analysis.drawing import forest

    shown = found[(found["setting"] != SETTINGS["default"]) | (found["protocol"] != "paper")]
    group = shown["setting"].str.capitalize() + ", protocol " + shown["protocol"]
    lines = shown.assign(group=group, label=shown["scope"].map(SCOPES), note=shown["signs"])
    lines["filled"] = (shown["low"] > 0) | (shown["high"] < 0)
    return forest(rows(lines), "GradTree minus CART: test F1 (right: GradTree better)", width=5.0)


def interactions(runs: Runs, printed: Printed) -> Answer | None:
    """Columns that tell something only together; ``scripts/interactions.py`` fits the trees."""
    path = (COMMITTED.parent if runs.store == COMMITTED else runs.store) / FITS
    if not path.is_file():
        return None
    fits = pd.read_csv(path)
    fits["near"] = fits["accuracy"] >= fits["truth"] - MARGIN
    fits["found"] = fits["near"] & (fits["nodes"] < MOST_NODES)
    by = fits.groupby(["learner", "table"], sort=False)
    means, counts = by[["accuracy", "nodes"]].mean(), by["found"].sum()
    frame = fits.groupby("table", sort=False)[["truth"]].mean()
    learners = fits["learner"].unique()
    for learner in learners:
        frame = frame.join(means.loc[learner].join(counts[learner]).add_prefix(f"{learner}: "))
    made = table("interactions", frame.reset_index(names="Table"), draws=str(by.size().max()))
    found = [f"{name} in {counts[name].sum()}" for name in learners[::-1]]
    told = (
        f"Interactions without marginal effects: of {len(fits) // len(learners)} draws of "
        f"{len(frame)} tables the truth is found (accuracy on new rows at most {MARGIN} below it) "
        f"with fewer than {MOST_NODES} nodes by {listed(found)}."
    )
    large = fits[fits["near"] & ~fits["found"]].groupby("learner").size()
    more = [f"{name} in {large[name]}" for name in learners if name in large]
    rest = f"With {MOST_NODES} nodes or more it is found by {listed(more)}." if more else ""
    title = "What does GradTree find that greedy trees miss?"
    return Answer("interactions", title, [told, *filter(None, [rest])], [made])


QUESTIONS = {20: answer, 32: interactions}
