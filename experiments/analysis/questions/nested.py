"""GradTree against CART, both tuned inside the training rows of each trial: the fairest comparison.

Nothing of a trial's test rows takes part in any choice, and no label leaks into the features
(protocol ``clean``). The primary comparison is of F1 on binary and on multi-class datasets, with
Holm's correction over the two.
"""

from __future__ import annotations

import json
from itertools import product

import pandas as pd

from experiments.analysis import pairwise
from experiments.analysis.answer import Answer
from experiments.analysis.grids import in_order
from experiments.analysis.pairwise import SCOPES, Side, estimate, listed, table
from experiments.analysis.printed import TASKS, Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import FEWEST_DATASETS, LEVEL, wilcoxon

PLACE, MINE = ("clean", "nested"), "gradtree-nested"
RIVALS = ("cart-nested", "cart-pruned")
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


def advantage(runs: Runs, mine: Side, other: Side, metric: str = "test_f1") -> dict[str, pd.Series]:
    """By task and dataset, how much better the first is; datasets in the order of the tables."""
    gaps = pairwise.differences(runs, mine, other, metric)
    gaps = gaps.loc[in_order(gaps.index, "datasets")] * (-1 if metric in LOSSES else 1)
    tasks = gaps.index.map(lambda slug: runs.datasets[slug]["task"])
    return {task: gaps[tasks == task] for task in TASKS} | {"all": gaps}


def primary(runs: Runs) -> pd.DataFrame:
    """The two tests of the primary comparison; empty until both tasks have enough datasets."""
    gaps = advantage(runs, (*PLACE, MINE), (*PLACE, RIVALS[0]))
    if any(len(gaps[task]) < FEWEST_DATASETS for task in TASKS):
        return pd.DataFrame()
    lines = [(task, estimate(gaps[task]) or {}, wilcoxon(gaps[task])) for task in TASKS]
    return pairwise.with_holm([{"scope": task, **line, "p": p} for task, line, p in lines])


def estimates(runs: Runs) -> pd.DataFrame:
    """By learner, rival, metric and task: estimates with intervals, no tests."""
    lines = []
    for mine, rival, metric in product(OWN, RIVALS, METRICS):
        gaps = advantage(runs, (*PLACE, mine), (*PLACE, rival), metric)
        place = {"GradTree": runs.name(mine), "Against": runs.name(rival)}
        for scope in SCOPES:
            found = estimate(gaps[scope], metric not in LOSSES)
            if found is not None:
                lines.append({**place, "Metric": METRICS[metric], "scope": scope, **found})
    return pd.DataFrame(lines)


def told(lines: pd.DataFrame) -> str:
    """``+0.003 [-0.010, +0.016] on 28 binary datasets (p = 0.612) and ...``."""
    shown = lines["holm"].map(lambda p: "p < 0.001" if p < 0.001 else f"p = {p:.3f}")
    return pairwise.told(pairwise.rows(lines.assign(p=shown)), "on {n} {scope} datasets ({p})")


def unfinished(runs: Runs) -> list[str]:
    """A sentence on the datasets of the suite that the comparison lacks so far."""
    done = advantage(runs, (*PLACE, MINE), (*PLACE, RIVALS[0]))["all"].index
    rows = {slug: facts["n_rows"] for slug, facts in runs.datasets.items()}
    left = [slug for slug in rows if slug not in done]
    if not left or done.empty:
        return []
    most = max(rows[slug] for slug in done)
    large = [slug for slug in left if rows[slug] > most]
    rest = [runs.name(slug) for slug in left if slug not in large]
    parts = [f"all {len(large)} with more than {most:,} rows"] * bool(large) + rest
    return [f"These are {len(done)} of {len(rows)} datasets; not run so far: {listed(parts)}."]


def verdict(lines: pd.DataFrame) -> str:
    """The primary comparison in a word or two."""
    sure = lines[lines["holm"] < LEVEL]
    better, worse = (
        [SCOPES[scope] for scope in sure["scope"][sure["difference"] * sign > 0]]
        for sign in (1, -1)
    )
    if better and worse:
        return "It depends on the task"
    if better:
        return f"Yes, on {listed(better)} data"
    if worse:
        return f"No, take CART, which is better on {listed(worse)} data"
    return "Not for F1: no difference from CART is shown"


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found, lines = estimates(runs), primary(runs)
    if found.empty:
        return None
    tables, sentences = [table("nested", found, protocol=PLACE[0])], []
    if len(lines):
        tables.insert(0, table("nested-primary", lines, protocol=PLACE[0]))
        sentences.append(f"{verdict(lines)}: GradTree minus CART is {told(lines)}.")
    return Answer(
        "nested",
        "GradTree or CART, each tuned inside every trial?",
        (*sentences, *unfinished(runs), *_candidates(runs)),
        tuple(tables),
        shown=tuple(each.name for each in tables),
    )


def _candidates(runs: Runs) -> list[str]:
    """How many candidates each trial drew, and where it drew fewer."""
    rows = runs.of(*PLACE)
    rows = rows[(rows["method"] == MINE) & (rows["status"] == "ok")]
    counts = [json.loads(extra or "{}").get("candidates", 0) for extra in rows["extra"]]
    drawn = pd.Series(counts, index=rows["dataset"], dtype=int).groupby(level=0).max()
    if drawn.empty:
        return []
    fewer = drawn[drawn < drawn.max()]
    text = f"Each trial draws {drawn.max()} random candidates per learner, compared in inner folds"
    if len(fewer):
        text += f"; {fewer.max()} on {listed([runs.name(slug) for slug in fewer.index])}"
    return [f"{text}; GradTree's winner is fitted with restarts, as the authors did."]


QUESTIONS = {25: answer}
