"""Should I use GradTree: against CART and pruned CART, by metric, protocol and settings."""

from __future__ import annotations

from typing import Any

import pandas as pd

from experiments.analysis import pairwise
from experiments.analysis.answer import Answer, Figure, Format, Table
from experiments.analysis.pairwise import (
    ESTIMATES,
    PROTOCOLS,
    SCOPES,
    contrast,
    estimate,
    interval,
    listed,
)
from experiments.analysis.printed import Printed
from experiments.analysis.questions import nested
from experiments.analysis.questions.nested import METRICS, advantage, of_task
from experiments.analysis.runs import Runs

ORDER = 20
MINE, RIVALS = "gradtree", ("cart", "cart-pruned")
SETTINGS = {
    "tuned": "published hyperparameters",
    "default": "default hyperparameters",
    "searched": "our own search",
}
UNTUNED = ("cart-pruned",)
"""Rivals that choose their own complexity: their default run stands in every setting."""
NESTED = "tuned inside each trial"
TINY = ("zoo", "lymphography")
"""Datasets with classes of two to five rows."""
SUBSETS = {"all": (), "without Zoo and Lymphography": TINY}


def tests(runs: Runs, printed: Printed) -> pd.DataFrame:
    """All lines for which enough datasets have been run; Holm's correction over all of them."""
    lines = []
    for rival in RIVALS:
        for setting in SETTINGS:
            for protocol in PROTOCOLS:
                theirs = "default" if rival in UNTUNED else setting
                gaps = pairwise.differences(
                    runs, (protocol, setting, MINE), (protocol, theirs, rival)
                )
                for scope in SCOPES:
                    found = contrast(pairwise.in_scope(gaps, printed, scope))
                    if found is not None:
                        line = {"against": rival, "setting": setting, "protocol": protocol}
                        line |= {"scope": scope, "of": len(pairwise.slugs_of(printed, scope))}
                        lines.append({**line, **found})
    return pairwise.with_holm(lines)


def sides() -> list[tuple[str, str, str, pairwise.Side, pairwise.Side]]:
    """Rival, setting and protocol of every comparison, and its two sides."""
    found: list[tuple[str, str, str, pairwise.Side, pairwise.Side]] = []
    for rival, theirs in zip(RIVALS, nested.RIVALS, strict=True):
        place = (nested.PROTOCOL, nested.EXPERIMENT)
        found.append((rival, NESTED, place[0], (*place, nested.MINE), (*place, theirs)))
        for setting in ("tuned", "default"):
            other = "default" if rival in UNTUNED else setting
            found += [
                (rival, SETTINGS[setting], p, (p, setting, MINE), (p, other, rival))
                for p in PROTOCOLS
            ]
    return found


def estimates(runs: Runs) -> pd.DataFrame:
    """How much better GradTree is, by rival, setting, protocol, metric, task and datasets."""
    lines = []
    for rival, setting, protocol, mine, other in sides():
        for metric, words in METRICS.items():
            gaps = advantage(runs, mine, other, metric)
            for scope in ("binary", "multi"):
                own = of_task(runs, gaps, scope)
                for subset, left_out in SUBSETS.items():
                    kept = own[~own.index.isin(left_out)]
                    if left_out and len(kept) == len(own):
                        continue
                    found = estimate(kept)
                    if found is not None:
                        line = {"against": rival, "setting": setting, "protocol": protocol}
                        line |= {"metric": words, "scope": scope, "subset": subset}
                        lines.append({**line, **found})
    return pd.DataFrame(lines)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    tested, found = tests(runs, printed), estimates(runs)
    if tested.empty or found.empty:
        return None
    first = {"against": "Against", "setting": "Setting", "protocol": "Protocol", "scope": "Task"}
    named = {**first, "n": "datasets", "of": "of", **pairwise.named()}
    frame = tested.assign(
        against=tested["against"].map(runs.name),
        setting=tested["setting"].map(SETTINGS),
        scope=tested["scope"].map(SCOPES),
    )
    full = {**first, "metric": "Metric", "subset": "Datasets", **ESTIMATES}
    every = found.assign(against=found["against"].map(runs.name), scope=found["scope"].map(SCOPES))[
        list(full)
    ].rename(columns=full)
    whole = (every["Against"] == runs.name(RIVALS[0])) & (every["Datasets"] == "all")
    caption = (
        "How much better GradTree is (log loss and Brier score turned round), mean over datasets "
        "with Student's 95 % interval; wins-ties-losses; where one more dataset is predicted to "
        "lie; and the chances of a Bayesian signed-rank test"
    )
    tables = (
        Table(
            "use-summary",
            "GradTree against CART in F1",
            caption,
            every[whole & (every["Metric"] == "F1")]
            .drop(columns=["Against", "Metric", "Datasets"])
            .reset_index(drop=True),
            formats=pairwise.ESTIMATE_FORMATS,
        ),
        Table(
            "use",
            "GradTree against CART by metric",
            caption,
            every,
            formats=pairwise.ESTIMATE_FORMATS,
        ),
        Table(
            "gradtree-against-cart",
            "GradTree against CART",
            "Mean test F1 of GradTree minus that of the other method, over the datasets that both "
            "finished, with a 95 % interval (paired bootstrap over datasets), wins, ties and "
            "losses, and Wilcoxon's p, uncorrected and with Holm's correction over this table",
            frame[list(named)].rename(columns=named),
            formats={
                **dict.fromkeys(("datasets", "of"), Format(kind="count")),
                **pairwise.formats(),
            },
        ),
    )
    return Answer(
        "use",
        "Should I use it?",
        tuple(_sentences(runs, found)),
        tables,
        (Figure("gradtree-against-cart", CAPTION, lambda: _draw(found)),),
        shown=("use-summary",),
    )


def _sentences(runs: Runs, found: pd.DataFrame) -> list[str]:
    lines = nested.primary(runs)
    cart = found[(found["against"] == "cart") & (found["subset"] == "all")]
    fairest = cart[cart["protocol"] == "clean"]
    if len(fairest):  # nested, or what comes nearest to it
        fairest = fairest[fairest["setting"] == fairest["setting"].iloc[0]]
    f1 = fairest[fairest["metric"] == "F1"]
    sentences = []
    if len(lines):
        parts = listed([nested.told(line) for _, line in lines.iterrows()])
        sentences.append(
            f"{nested.verdict(lines)}: tuned inside each trial and without the leak, GradTree "
            f"minus CART is {parts} in F1."
        )
    elif len(f1):
        parts = [
            f"{interval(row)} on {row['n']} {SCOPES[row['scope']]} datasets" for row in _rows(f1)
        ]
        sentences.append(
            f"{_word(f1)}: with {f1['setting'].iloc[0]} and without the leak, GradTree minus CART "
            f"is {listed(parts)} in F1."
        )
    if len(f1):
        parts = [
            f"{row['better']:.2f} better, {row['equivalent']:.2f} within ±0.01, {row['worse']:.2f} "
            f"worse on {SCOPES[row['scope']]} data"
            for row in _rows(f1)
        ]
        sentences.append(f"Chances that GradTree is better than CART: {'; '.join(parts)}.")
        parts = [
            f"between {row['new low']:+.3f} and {row['new high']:+.3f} ({SCOPES[row['scope']]})"
            for row in _rows(f1)
        ]
        sentences.append(f"On one more dataset expect a difference {listed(parts)}.")
    for words in ("ROC AUC", "log loss"):
        parts = [
            f"{interval(row)} ({SCOPES[row['scope']]}, {row['signs']})"
            for row in _rows(fairest[fairest["metric"] == words])
        ]
        if parts:
            sentences.append(f"In {words} GradTree is better by {listed(parts)}.")
    paper = cart[(cart["protocol"] == "paper") & (cart["metric"] == "F1")]
    parts = [
        f"{interval(row)} ({SCOPES[row['scope']]})"
        for row in _rows(paper[paper["setting"] == SETTINGS["tuned"]])
    ]
    if parts:
        sentences.append(
            f"As the paper ran it (published hyperparameters, with the leak) it is {listed(parts)}."
        )
    tiny = found[(found["against"] == "cart") & (found["subset"] != "all")]
    tiny = tiny[
        (tiny["metric"] == "F1")
        & (tiny["setting"].isin(f1["setting"]))
        & (tiny["protocol"] == "clean")
    ]
    for row in _rows(tiny):
        sentences.append(
            f"Without Zoo and Lymphography, whose smallest classes have two to five rows, the "
            f"{SCOPES[row['scope']]} difference is {interval(row)}."
        )
    pruned = found[(found["against"] == "cart-pruned") & (found["subset"] == "all")]
    pruned = pruned[
        (pruned["metric"] == "F1")
        & pruned["setting"].isin(f1["setting"])
        & (pruned["protocol"] == "clean")
    ]
    parts = [f"{interval(row)} ({SCOPES[row['scope']]})" for row in _rows(pruned)]
    if parts:
        sentences.append(f"Against {runs.name('cart-pruned')} it is {listed(parts)}.")
    return sentences


def _word(lines: pd.DataFrame) -> str:
    """What intervals say of a difference, in a word."""
    if (lines["low"] > 0).any():
        return "It depends on the task" if (lines["high"] < 0).any() else "Yes, in part"
    return "No" if (lines["high"] < 0).any() else "Not for F1"


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [dict(row) for row in frame.to_dict("records")]


CAPTION = (
    "Test F1 of GradTree minus that of CART: mean over datasets (their number in brackets) with "
    "Student's 95 % interval; wins-ties-losses on the right."
)


def _draw(found: pd.DataFrame) -> Any:
    from experiments.output.forest import forest

    kept = (found["against"] == "cart") & (found["metric"] == "F1") & (found["subset"] == "all")
    places = [(NESTED, "clean"), *((SETTINGS["tuned"], p) for p in reversed(PROTOCOLS))]
    places.append((SETTINGS["default"], "clean"))
    lines = [
        {
            **row,
            "group": f"{setting.capitalize()}, protocol {protocol}",
            "label": f"{SCOPES[row['scope']]} ({row['n']})",
            "filled": row["low"] > 0 or row["high"] < 0,
            "note": row["signs"],
        }
        for setting, protocol in places
        for row in _rows(
            found[kept & (found["setting"] == setting) & (found["protocol"] == protocol)]
        )
    ]
    return forest(lines, "GradTree minus CART: test F1 (right: GradTree better)", width=5.0)
