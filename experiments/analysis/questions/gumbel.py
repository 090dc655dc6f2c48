"""Is ST entmax the better way to choose the feature of a split?

The authors' program writes the pruned tree back into the variables that it trains and predicts
with the function that it trained with. For ST Gumbel softmax that function adds fresh noise, so
a node of the finished tree tests its own feature with some probability only. The printed column
is that of trees scrambled in this way (``gradtree-gumbel``); the same trees, predicted as they
are, are ``gradtree-gumbel-noise-free``.
"""

from __future__ import annotations

import pandas as pd

from experiments.analysis import pairwise
from experiments.analysis.answer import Answer, Table, table
from experiments.analysis.pairwise import PROTOCOLS, rows
from experiments.analysis.printed import Printed
from experiments.analysis.runs import Runs

NOISY, NOISE_FREE, ANNEALED = "gradtree-gumbel", "gradtree-gumbel-noise-free", "gradtree-annealed"
OTHERS = {NOISY: "with noise, as printed", NOISE_FREE: "without", ANNEALED: "temperature annealing"}


def selectors(runs: Runs, printed: Printed, protocol: str = "paper") -> pd.DataFrame:
    """ST entmax minus each other selector; Holm's correction is over the lines of either."""
    parts = []
    for other, words in OTHERS.items():
        places = [
            (
                {"other": other, "words": words, "setting": setting},
                (protocol, f"ablation-{setting}", "gradtree"),
                (protocol, f"ablation-{setting}", other),
            )
            for setting in ("tuned", "default")
        ]
        parts.append(pairwise.contrasts(runs, printed, places))
    return pd.concat(parts, ignore_index=True)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    tables: list[Table] = []
    sentences: list[str] = []
    for protocol in PROTOCOLS:
        found = selectors(runs, printed, protocol)
        if found.empty or NOISE_FREE not in set(found["other"]):
            continue  # one way of predicting alone compares nothing
        sentences = sentences or _sentences(found)
        annealed = found["other"] == ANNEALED
        for name, own in (("selectors", ~annealed), ("selectors-annealing", annealed)):
            folder = "" if protocol == "paper" else protocol
            tables += [table(name, found[own], protocol=folder)] if own.any() else []
    if not tables:
        return None
    return Answer(
        "gumbel",
        "Is ST entmax the better way to select features?",
        tuple(sentences),
        tuple(tables),
        shown=tuple(dict.fromkeys(each.name for each in tables)),
    )


def _sentences(found: pd.DataFrame) -> list[str]:
    found = found[found["scope"] != "all"]
    ahead = {other: own["low"] > 0 for other, own in found.groupby("other")}
    free = ahead[NOISE_FREE]
    word = "Yes" if free.all() else "Only in part" if free.any() else "No"
    words = "on {scope} data ({setting})"
    told = {other: pairwise.told(rows(found, other=other), words) for other in OTHERS}
    sentences = [
        f"{word}: predicted without noise, ST entmax is ahead of ST Gumbel softmax in "
        f"{free.sum()} of {len(free)} comparisons (95 % interval above zero): {told[NOISE_FREE]}.",
        "The printed ST Gumbel softmax column is that of trees to which the authors' program adds "
        f"noise once more when they predict; ST entmax leads it by {told[NOISY]}.",
    ]
    if ANNEALED in ahead:
        sentences.append(
            f"Of temperature annealing it is ahead in {ahead[ANNEALED].sum()} of "
            f"{len(ahead[ANNEALED])}: {told[ANNEALED]}."
        )
    return sentences


QUESTIONS = {80: answer}
