"""Are GradTree's new defaults better than the published ones, and what is each choice worth?"""

from __future__ import annotations

import pandas as pd

from experiments.analysis.answer import Answer, table
from experiments.analysis.pairwise import PROTOCOLS, contrasts, rows, told
from experiments.analysis.printed import Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import LEVEL

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


def worths(runs: Runs, printed: Printed) -> pd.DataFrame:
    """The new defaults minus each other learner, by protocol and task; mean nodes of both."""
    places = [
        (
            {"method": method, "choice": choice, "instead": instead, "protocol": protocol},
            (protocol, EXPERIMENT, NEW),
            (protocol, EXPERIMENT, method),
        )
        for method, (choice, instead) in CHOICES.items()
        for protocol in PROTOCOLS
    ]
    return contrasts(runs, printed, places, "tree_size")


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found = worths(runs, printed)
    if found.empty:
        return None
    return Answer(
        EXPERIMENT,
        "Are GradTree's new defaults better than the published ones?",
        tuple(_sentences(found)),
        (table(EXPERIMENT, found),),
        shown=(EXPERIMENT,),
    )


def _sentences(found: pd.DataFrame) -> list[str]:
    whole = found[found["scope"] == "all"]
    last = whole[whole["protocol"] == whole["protocol"].iloc[-1]].set_index("method", drop=False)
    words = "under protocol {protocol}"
    gains = rows(whole, method="gradtree")
    word = "Yes" if gains and all(line["low"] > 0 for line in gains) else "Not shown"
    sentences = [f"{word}: they change test F1 by {told(gains, words)}."]
    if cart := rows(whole, method="cart"):
        sentences.append(f"From CART's default they differ by {told(cart, words)}.")
    if "gradtree" in last.index:
        line = last.loc["gradtree"]
        sentences.append(
            f"The trees have {line['mine']:.0f} nodes on average instead of "
            f"{line['theirs']:.0f} (protocol {line['protocol']})."
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


QUESTIONS = {50: answer}
