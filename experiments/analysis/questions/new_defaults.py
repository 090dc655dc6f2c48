"""Are GradTree's new defaults better than the published ones, and what is each choice worth?"""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from experiments.analysis import pairwise
from experiments.analysis.answer import Answer
from experiments.analysis.pairwise import CONTRAST, PROTOCOLS, SCOPES, contrast, means, rows, told
from experiments.analysis.printed import Printed
from experiments.analysis.ranks import mean_of
from experiments.analysis.runs import Runs
from experiments.analysis.stats import LEVEL

ORDER = 50
EXPERIMENT, NEW = "new-defaults", "gradtree-new-defaults"


class Choice(NamedTuple):
    """What the new defaults do, and what the other learner does instead."""

    method: str
    choice: str
    instead: str


CHOICES = (
    Choice("gradtree", "all defaults", "GradTree as published"),
    Choice("cart", "all defaults", "CART"),
    Choice(f"{NEW}-learned-leaves", "leaves refitted on all rows", "learned leaves"),
    Choice(f"{NEW}-by-loss", "run and epoch chosen by F1", "chosen by loss"),
    Choice(f"{NEW}-four-long-runs", "sixteen short runs", "four long runs"),
    Choice(f"{NEW}-slow-leaves", "leaf rate 0.2", "the paper's leaf rate"),
    Choice(f"{NEW}-sigmoid", "softsign splits", "sigmoid splits"),
    Choice(f"{NEW}-glorot", "first thresholds at quantiles", "around zero"),
    Choice(f"{NEW}-free-leaves", "a price per leaf", "no price"),
)


def worths(runs: Runs, printed: Printed) -> pd.DataFrame:
    """The new defaults minus each other learner, by protocol and task; mean nodes of both."""
    lines = []
    for choice in CHOICES:
        for protocol in PROTOCOLS:
            sides = (protocol, EXPERIMENT, NEW), (protocol, EXPERIMENT, choice.method)
            gaps = pairwise.differences(runs, *sides)
            for scope in SCOPES:
                own = pairwise.in_scope(gaps, printed, scope)
                found = contrast(own)
                if found is not None:
                    sizes = [mean_of(means(runs, side, "tree_size")[own.index]) for side in sides]
                    line = {**choice._asdict(), "protocol": protocol, "scope": scope}
                    lines.append({**line, "nodes": sizes[0], "others": sizes[1], **found})
    return pairwise.with_holm(lines)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found = worths(runs, printed)
    if found.empty:
        return None
    columns = {
        "choice": "Choice",
        "instead": "Instead",
        "protocol": "Protocol",
        "scope": "Task",
        "n": "datasets",
        "nodes": "nodes: new defaults",
        "others": "nodes: instead",
        **CONTRAST,
    }
    table = pairwise.table(EXPERIMENT, found.assign(scope=found["scope"].map(SCOPES)), columns)
    return Answer(
        EXPERIMENT,
        "Are GradTree's new defaults better than the published ones?",
        tuple(_sentences(found)),
        (table,),
        shown=(EXPERIMENT,),
    )


def _sentences(found: pd.DataFrame) -> list[str]:
    whole = found[found["scope"] == "all"]
    last = whole[whole["protocol"] == whole["protocol"].iloc[-1]].set_index("method", drop=False)
    words = "under protocol {protocol}"
    gains = rows(whole, method="gradtree")
    word = "Yes" if gains and all(line["low"] > 0 for line in gains) else "Not shown"
    sentences = [f"{word}: they change test F1 by {told(gains, words)}."]
    cart = rows(whole, method="cart")
    if cart:
        sentences.append(f"From CART's default they differ by {told(cart, words)}.")
    if "gradtree" in last.index:
        line = last.loc["gradtree"]
        sentences.append(
            f"The trees have {line['nodes']:.0f} nodes on average instead of "
            f"{line['others']:.0f} (protocol {line['protocol']})."
        )
    single = last[last.index.str.startswith(NEW)]
    sure = rows(single[single["holm"] < LEVEL])
    if len(single):
        parts = told(sure, "for {choice} instead of {instead}") or "none"
        sentences.append(
            f"Of {len(single)} choices set back one at a time {len(sure)} made a significant "
            f"difference (protocol {last['protocol'].iloc[0]}): {parts}."
        )
    return [
        *sentences,
        "The choices were made on other runs of the same datasets; validation rows choose runs "
        "and epochs, and no choice of a fit sees test rows.",
    ]
