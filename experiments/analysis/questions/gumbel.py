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
from experiments.analysis.answer import Answer, Table
from experiments.analysis.pairwise import CONTRAST, PROTOCOLS, SCOPES, contrast, means, rows, table
from experiments.analysis.printed import Printed
from experiments.analysis.ranks import mean_of
from experiments.analysis.runs import Runs

ORDER = 80
ENTMAX, NOISY, NOISE_FREE = "gradtree", "gradtree-gumbel", "gradtree-gumbel-noise-free"
ANNEALED = "gradtree-annealed"
OTHERS = {NOISY: "with noise, as printed", NOISE_FREE: "without", ANNEALED: "temperature annealing"}
SETTINGS = ("tuned", "default")


def selectors(runs: Runs, printed: Printed, protocol: str = "paper") -> pd.DataFrame:
    """ST entmax minus each other selector; Holm's correction is over the lines of either."""
    parts = []
    for other in OTHERS:
        lines = []
        for setting in SETTINGS:
            place = (protocol, f"ablation-{setting}")
            sides = (*place, ENTMAX), (*place, other)
            gaps = pairwise.differences(runs, *sides)
            for scope in SCOPES:
                own = pairwise.in_scope(gaps, printed, scope)
                found = contrast(own)
                if found is not None:
                    line = {"other": other, "setting": setting, "scope": scope}
                    both = [mean_of(means(runs, side)[own.index]) for side in sides]
                    lines.append({**line, "entmax": both[0], "theirs": both[1], **found})
        parts.append(pairwise.with_holm(lines))
    return pd.concat(parts, ignore_index=True)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    tables: list[Table] = []
    first: dict[str, pd.DataFrame] = {}
    for protocol in PROTOCOLS:
        found = selectors(runs, printed, protocol)
        if found.empty or NOISE_FREE not in set(found["other"]):
            continue  # one way of predicting alone compares nothing
        first.setdefault("lines", found)
        shown = found.assign(scope=found["scope"].map(SCOPES), words=found["other"].map(OTHERS))
        place = {"setting": "Setting", "scope": "Task", "n": "datasets", "entmax": "ST entmax"}
        folder = "" if protocol == "paper" else protocol
        gumbel = {"words": "Gumbel noise at prediction", **place, "theirs": "ST Gumbel softmax"}
        own = shown[shown["other"] != ANNEALED]
        tables.append(table("selectors", own, {**gumbel, **CONTRAST}, folder))
        annealed = {**place, "theirs": "temperature annealing", **CONTRAST}
        own = shown[shown["other"] == ANNEALED]
        tables += [table("selectors-annealing", own, annealed, folder)] if len(own) else []
    if not tables:
        return None
    return Answer(
        "gumbel",
        "Is ST entmax the better way to select features?",
        tuple(_sentences(first["lines"])),
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
