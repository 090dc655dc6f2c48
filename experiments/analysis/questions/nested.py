"""GradTree against CART, both tuned inside the training rows of each trial: the fairest comparison.

Nothing of a trial's test rows takes part in any choice, and no label leaks into the features
(protocol ``clean``). This is the primary comparison: F1, binary and multi-class datasets, Holm's
correction over the two.
"""

from __future__ import annotations

import json

import pandas as pd

from experiments.analysis import pairwise
from experiments.analysis.answer import Answer, Format, Table
from experiments.analysis.declared import dataset_order
from experiments.analysis.pairwise import ESTIMATES, SCOPES, estimate, interval, listed
from experiments.analysis.printed import TASKS, Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import FEWEST_DATASETS, LEVEL, holm, wilcoxon

ORDER = 25
PROTOCOL, EXPERIMENT, MINE = "clean", "nested", "gradtree-nested"
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


def advantage(
    runs: Runs, mine: pairwise.Side, other: pairwise.Side, metric: str = "test_f1"
) -> pd.Series:
    """By dataset, how much better the first is; datasets in the order of the tables."""
    gaps = pairwise.differences(runs, mine, other, metric)
    gaps = gaps.loc[dataset_order(gaps.index)]
    return -gaps if metric in LOSSES else gaps


def of_task(runs: Runs, values: pd.Series, scope: str) -> pd.Series:
    return values[[scope in ("all", runs.datasets[slug]["task"]) for slug in values.index]]


def primary(runs: Runs) -> pd.DataFrame:
    """The two tests of the primary comparison; empty until both tasks have enough datasets."""
    gaps = advantage(runs, (PROTOCOL, EXPERIMENT, MINE), (PROTOCOL, EXPERIMENT, RIVALS[0]))
    own = {task: of_task(runs, gaps, task) for task in TASKS}
    if any(len(values) < FEWEST_DATASETS for values in own.values()):
        return pd.DataFrame()
    lines = [{"scope": t, **(estimate(v) or {}), "p": wilcoxon(v)} for t, v in own.items()]
    frame = pd.DataFrame(lines)
    return frame.assign(holm=holm(frame["p"].tolist()))


def estimates(runs: Runs) -> pd.DataFrame:
    """By learner, rival, metric and task: estimates with intervals, no tests."""
    lines = []
    for mine in OWN:
        for rival in RIVALS:
            for metric, words in METRICS.items():
                sides = [(PROTOCOL, EXPERIMENT, method) for method in (mine, rival)]
                gaps = advantage(runs, *sides, metric)
                for scope in SCOPES:
                    found = estimate(of_task(runs, gaps, scope))
                    if found is not None:
                        place = {"method": mine, "against": rival, "metric": words, "scope": scope}
                        lines.append({**place, **found})
    return pd.DataFrame(lines)


def told(line: pd.Series) -> str:
    """``+0.003 [-0.010, +0.016] on 28 binary datasets (p = 0.61)``."""
    p = "p < 0.001" if line["holm"] < 0.001 else f"p = {line['holm']:.3f}"
    return f"{interval(line)} on {line['n']} {SCOPES[line['scope']]} datasets ({p})"


def verdict(lines: pd.DataFrame) -> str:
    """The primary comparison in a word or two."""
    sure = lines[lines["holm"] < LEVEL]
    better, worse = sure[sure["difference"] > 0], sure[sure["difference"] < 0]
    if len(better) and len(worse):
        return "It depends on the task"
    if len(better):
        return f"Yes, on {listed([SCOPES[s] for s in better['scope']])} data"
    if len(worse):
        return f"No, on {listed([SCOPES[s] for s in worse['scope']])} data CART is better"
    return "Not for F1: no difference from CART is shown"


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found = estimates(runs)
    if found.empty:
        return None
    names = {"method": "GradTree", "against": "Against", "metric": "Metric", "scope": "Task"}
    frame = found.assign(
        method=found["method"].map(runs.name),
        against=found["against"].map(runs.name),
        scope=found["scope"].map(SCOPES),
    )
    table = Table(
        "nested",
        "GradTree against CART, tuned inside each trial",
        "How much better GradTree is (log loss and Brier score turned round), mean over datasets "
        "with Student's 95 % interval; wins-ties-losses; where one more dataset is predicted to "
        "lie; and the chances of a Bayesian signed-rank test",
        frame[[*names, *ESTIMATES]].rename(columns={**names, **ESTIMATES}),
        PROTOCOL,
        pairwise.ESTIMATE_FORMATS,
    )
    lines, tables = primary(runs), [table]
    sentences = []
    if len(lines):
        tests = lines.assign(scope=lines["scope"].map(SCOPES))[["scope", *ESTIMATES, "p", "holm"]]
        tables.insert(
            0,
            Table(
                "nested-primary",
                "The primary comparison",
                "Test F1 of GradTree minus that of CART, both tuned inside the training rows of "
                "each trial, protocol clean; Wilcoxon's p with Holm's correction over the two",
                tests.rename(columns={"scope": "Task", **ESTIMATES, "holm": "p (Holm)"}),
                PROTOCOL,
                {**pairwise.ESTIMATE_FORMATS, **dict.fromkeys(("p", "p (Holm)"), Format(kind="p"))},
            ),
        )
        parts = listed([told(line) for _, line in lines.iterrows()])
        sentences.append(f"{verdict(lines)}: GradTree minus CART is {parts}.")
    sentences += _candidates(runs)
    return Answer(
        "nested",
        "GradTree or CART, each tuned inside every trial?",
        tuple(sentences),
        tuple(tables),
        shown=tuple(table.name for table in tables),
    )


def _candidates(runs: Runs) -> list[str]:
    """How many candidates each trial drew, and where it drew fewer."""
    rows = runs.of(PROTOCOL, EXPERIMENT)
    rows = rows[(rows["method"] == MINE) & (rows["status"] == "ok")]
    drawn = pd.Series(
        {d: json.loads(extra)["candidates"] for d, extra in zip(rows["dataset"], rows["extra"])},
        dtype=int,
    )
    if drawn.empty:
        return []
    most = drawn.max()
    fewer = drawn[drawn < most]
    text = f"Each trial draws {most} random candidates per learner and compares them in 3 folds"
    if len(fewer):
        names = listed([runs.name(slug) for slug in fewer.index])
        text += f"; {fewer.max()} on {names}, which have over 20,000 rows"
    return [f"{text}; the winner is fitted with restarts as the authors did."]
