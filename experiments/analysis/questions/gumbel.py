"""Is ST entmax the better way to choose the feature of a split?

The authors' program writes the pruned tree back into the variables that it trains and predicts
with the function that it trained with. For ST Gumbel softmax that function adds fresh noise, so
a node of the finished tree tests its own feature with some probability only. The printed column
is that of trees scrambled in this way (``gradtree-gumbel``); the same trees, predicted as they
are, are ``gradtree-gumbel-noise-free``.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from experiments.analysis import pairwise
from experiments.analysis.answer import Answer, Figure, Format, Table
from experiments.analysis.ranks import mean_of
from experiments.analysis.pairwise import PROTOCOLS, SCOPES, contrast, interval, listed, means
from experiments.analysis.printed import Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import LEVEL

ORDER = 80
ENTMAX = "gradtree"
OTHERS = {
    "gradtree-gumbel": "with noise, as printed",
    "gradtree-gumbel-noise-free": "without",
    "gradtree-annealed": "temperature annealing",
}
NOISE_FREE = "gradtree-gumbel-noise-free"
SETTINGS = ("tuned", "default")


def selectors(runs: Runs, printed: Printed, protocol: str = "paper") -> pd.DataFrame:
    """ST entmax minus each other selector; Holm's correction is over the lines of either."""
    parts = []
    for other in OTHERS:
        lines = []
        for setting in SETTINGS:
            sides = [(protocol, f"ablation-{setting}", method) for method in (ENTMAX, other)]
            gaps = pairwise.differences(runs, *sides)
            scores = [means(runs, side) for side in sides]
            for scope in SCOPES:
                found = contrast(pairwise.in_scope(gaps, printed, scope))
                if found is not None:
                    shared = [s for s in pairwise.slugs_of(printed, scope) if s in gaps.index]
                    mine, theirs = (mean_of(own[shared]) for own in scores)
                    line = {"other": other, "setting": setting, "scope": scope}
                    lines.append({**line, "entmax": mine, "theirs": theirs, **found})
        parts.append(pairwise.with_holm(lines))
    return pd.concat(parts, ignore_index=True)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    tables: list[Table] = []
    found = {protocol: selectors(runs, printed, protocol) for protocol in PROTOCOLS}
    for protocol, lines in found.items():
        # One way of predicting alone compares nothing.
        if lines.empty or NOISE_FREE not in set(lines["other"]):
            continue
        where = "" if protocol == "paper" else protocol
        gumbel = lines[lines["other"] != "gradtree-annealed"]
        tables.append(_table(gumbel, "selectors", "ST Gumbel softmax", where))
        annealed = lines[lines["other"] == "gradtree-annealed"]
        if len(annealed):
            tables.append(_table(annealed, "selectors-annealing", "Temperature annealing", where))
    if not tables:
        return None
    return Answer(
        "gumbel",
        "Is ST entmax the better way to select features?",
        tuple(_sentences(found["paper"])),
        tuple(tables),
        (Figure("selectors", CAPTION, lambda: _draw(found["paper"])),),
        shown=("selectors",),
    )


def _table(lines: pd.DataFrame, name: str, other: str, protocol: str) -> Table:
    gumbel = name == "selectors"
    first = "Gumbel noise at prediction" if gumbel else "Selector"
    columns = {
        **{"other": first, "setting": "Setting", "scope": "Task", "n": "datasets"},
        **{"entmax": "ST entmax", "theirs": other, **pairwise.named()},
    }
    ways = ", with and without noise at prediction" if gumbel else ""
    frame = lines.assign(other=lines["other"].map(OTHERS), scope=lines["scope"].map(SCOPES))
    return Table(
        name,
        f"ST entmax against {other[0] + other[1:] if gumbel else other.lower()}",
        f"Mean test F1 of both over datasets{ways}; the difference with a 95 % interval (paired "
        "bootstrap over datasets), wins, ties and losses of ST entmax, Wilcoxon's p, plain and "
        "corrected by Holm over the lines of either way",
        frame[list(columns)].rename(columns=columns),
        protocol,
        {"datasets": Format(kind="count"), **pairwise.formats()},
    )


CAPTION = (
    "ST entmax minus the other selector: mean difference of test F1 with a 95 % bootstrap "
    "interval over datasets, protocol paper. Filled: significant after Holm's correction."
)


def _sentences(found: pd.DataFrame) -> list[str]:
    def told(other: str, setting: str) -> str:
        lines = found[(found["other"] == other) & (found["setting"] == setting)]
        return listed(
            [
                f"{interval(line)} on {SCOPES[line['scope']]} data"
                for line in lines[lines["scope"] != "all"].to_dict("records")
            ]
        )

    lines = found[found["scope"] != "all"]
    ahead = {other: own["low"] > 0 for other, own in lines.groupby("other")}
    free, annealed = ahead[NOISE_FREE], ahead.get("gradtree-annealed", pd.Series(dtype=bool))
    word = "Yes" if free.all() else "No" if not free.any() else "Only in part"
    return [
        f"{word}: predicted without noise, ST entmax is ahead of ST Gumbel softmax in "
        f"{free.sum()} of {len(free)} comparisons (95 % interval above zero).",
        "The printed ST Gumbel softmax column is that of trees to which the authors' program adds "
        f"noise once more when they predict; tuned, ST entmax leads it by "
        f"{told('gradtree-gumbel', 'tuned')}.",
        f"Without that noise its lead is {told(NOISE_FREE, 'tuned')} (tuned), "
        f"{told(NOISE_FREE, 'default')} (default hyperparameters).",
        f"Of temperature annealing it is ahead in {annealed.sum()} of {len(annealed)}: by "
        f"{told('gradtree-annealed', 'tuned')} (tuned), {told('gradtree-annealed', 'default')} "
        "(default).",
    ]


def _draw(found: pd.DataFrame) -> Any:
    from experiments.output.forest import forest

    names = {
        "gradtree-gumbel": "ST Gumbel softmax with noise, as printed",
        NOISE_FREE: "ST Gumbel softmax without noise",
        "gradtree-annealed": "Temperature annealing",
    }
    lines = [
        {
            **line,
            "group": names[line["other"]],
            "label": f"{line['setting']}, {SCOPES[line['scope']]} ({line['n']})",
            "filled": line["holm"] < LEVEL,
        }
        for line in found[found["scope"] != "all"].to_dict("records")
    ]
    return forest(lines, "ST entmax minus the other: test F1 (right: ST entmax better)")
