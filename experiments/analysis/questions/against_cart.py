"""Should I use GradTree: against CART and pruned CART, by metric, protocol and settings."""

from __future__ import annotations

from typing import Any

import pandas as pd

from experiments.analysis import pairwise
from experiments.analysis.answer import Answer, Figure
from experiments.analysis.pairwise import (
    CONTRAST,
    ESTIMATE,
    PROTOCOLS,
    SCOPES,
    Side,
    contrast,
    estimate,
    listed,
    rows,
    table,
    told,
)
from experiments.analysis.printed import Printed
from experiments.analysis.questions import nested
from experiments.analysis.questions.nested import LOSSES, METRICS, advantage, of_task
from experiments.analysis.runs import Runs

ORDER = 20
MINE, RIVALS = "gradtree", ("cart", "cart-pruned")
SETTINGS = {
    "tuned": "published hyperparameters",
    "default": "default hyperparameters",
    "searched": "our own search",
}
NESTED = "hyperparameters tuned inside each trial"
TINY = ("zoo", "lymphography")
"""Datasets with classes of two to five rows."""
FIRST = {"against": "Against", "setting": "Setting", "protocol": "Protocol", "scope": "Task"}


def sides(setting: str, protocol: str, rival: str) -> tuple[Side, Side]:
    """GradTree and a rival; pruned CART chooses its own size, so its default run stands always."""
    theirs = "default" if rival == "cart-pruned" else setting
    return (protocol, setting, MINE), (protocol, theirs, rival)


def tests(runs: Runs, printed: Printed) -> pd.DataFrame:
    """All lines for which enough datasets have been run; Holm's correction over all of them."""
    lines = []
    for rival in RIVALS:
        for setting in SETTINGS:
            for protocol in PROTOCOLS:
                gaps = pairwise.differences(runs, *sides(setting, protocol, rival))
                for scope in SCOPES:
                    found = contrast(pairwise.in_scope(gaps, printed, scope))
                    if found is not None:
                        line = {"against": rival, "setting": SETTINGS[setting], "scope": scope}
                        of = len(pairwise.slugs_of(printed, scope))
                        lines.append({**line, "protocol": protocol, "of": of, **found})
    return pairwise.with_holm(lines)


def estimates(runs: Runs) -> pd.DataFrame:
    """How much better GradTree is, by rival, setting, protocol, metric, task and datasets."""
    lines = []
    for rival, theirs in zip(RIVALS, nested.RIVALS, strict=True):
        place = (nested.PROTOCOL, nested.EXPERIMENT)
        both = {(NESTED, place[0]): ((*place, nested.MINE), (*place, theirs))}
        for setting in ("tuned", "default"):
            both |= {(SETTINGS[setting], p): sides(setting, p, rival) for p in PROTOCOLS[::-1]}
        for (setting, protocol), (mine, other) in both.items():
            for metric, words in METRICS.items():
                gaps = advantage(runs, mine, other, metric)
                line = {"against": rival, "setting": setting, "protocol": protocol}
                for scope in ("binary", "multi"):
                    own = of_task(runs, gaps, scope)
                    fewer = own[~own.index.isin(TINY)]
                    parts = {"all": own, "without Zoo and Lymphography": fewer}
                    for subset, values in parts.items():
                        found = estimate(values, metric not in LOSSES)
                        if found is not None and (subset == "all" or len(fewer) < len(own)):
                            where = {"metric": words, "scope": scope, "subset": subset}
                            lines.append({**line, **where, **found})
    return pd.DataFrame(lines)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    tested, found = tests(runs, printed), estimates(runs)
    if tested.empty or found.empty:
        return None

    def named(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(
            against=frame["against"].map(runs.name), scope=frame["scope"].map(SCOPES)
        )

    whole = (found["against"] == "cart") & (found["subset"] == "all") & (found["metric"] == "F1")
    short = {name: words for name, words in FIRST.items() if name != "against"}
    full = {**FIRST, "metric": "Metric", "subset": "Datasets", **ESTIMATE}
    tables = (
        table("use-summary", named(found[whole]), {**short, **ESTIMATE}),
        table("use", named(found), full),
        table(
            "gradtree-against-cart",
            named(tested),
            {**FIRST, "n": "datasets", "of": "of", **CONTRAST},
        ),
    )
    return Answer(
        "use",
        "Should I use it?",
        tuple(_sentences(runs, found)),
        tables,
        (Figure("gradtree-against-cart", CAPTION, lambda: _draw(found[whole])),),
        shown=("use-summary",),
    )


def _sentences(runs: Runs, found: pd.DataFrame) -> list[str]:
    lines = nested.primary(runs)
    cart = found[(found["against"] == "cart") & (found["subset"] == "all")]
    clean = cart[cart["protocol"] == "clean"]
    setting = clean["setting"].iloc[0] if len(clean) else ""  # nested, or what comes nearest
    fairest = clean[clean["setting"] == setting]
    f1 = rows(fairest, metric="F1")
    sentences = []
    if len(lines):
        sentences.append(
            f"{nested.verdict(lines)}: tuned inside each trial and without the leak, GradTree "
            f"minus CART is {nested.told(lines)} in F1."
        )
    elif f1:
        words = "on {n} {scope} datasets"
        sentences.append(
            f"{_word(f1)}: with {setting} and without the leak, GradTree minus CART is "
            f"{told(f1, words)} in F1."
        )
    chances = [
        f"{line['better']:.2f} better, {line['equivalent']:.2f} within ±0.01, {line['worse']:.2f} "
        f"worse on {SCOPES[line['scope']]} data"
        for line in f1
    ]
    expected = [
        f"between {line['new low']:+.3f} and {line['new high']:+.3f} ({SCOPES[line['scope']]})"
        for line in f1
    ]
    if f1:
        sentences.append(f"Chances that GradTree is better than CART: {'; '.join(chances)}.")
        sentences.append(f"On one more dataset expect a difference {listed(expected)}.")
    for words in ("ROC AUC", "log loss"):
        own = rows(fairest, metric=words)
        if own:
            sentences.append(f"In {words} GradTree is better by {told(own, '({scope}, {signs})')}.")
    printed = rows(cart, protocol="paper", metric="F1", setting=SETTINGS["tuned"])
    tiny = rows(found, against="cart", metric="F1", protocol="clean", setting=setting)
    tiny = [line for line in tiny if line["subset"] != "all"]
    pruned = rows(found, against="cart-pruned", metric="F1", protocol="clean", setting=setting)
    pruned = [line for line in pruned if line["subset"] == "all"]
    for own, words in (
        (printed, "As the paper ran it (published hyperparameters, with the leak) F1 differs by"),
        (tiny, "Without Zoo and Lymphography, with classes of two to five rows, it differs by"),
        (pruned, f"From {runs.name('cart-pruned')} it differs by"),
    ):
        if own:
            sentences.append(f"{words} {told(own)}.")
    return sentences


def _word(lines: list[pairwise.Line]) -> str:
    """What intervals say of a difference, in a word."""
    better, worse = any(x["low"] > 0 for x in lines), any(x["high"] < 0 for x in lines)
    if better:
        return "It depends on the task" if worse else "Yes, in part"
    return "No" if worse else "Not for F1"


CAPTION = (
    "Test F1 of GradTree minus that of CART: mean over datasets (their number in brackets) with "
    "Student's 95 % interval (filled: without zero); wins-ties-losses on the right."
)


def _draw(found: pd.DataFrame) -> Any:
    from experiments.output.forest import forest

    lines = [
        {
            **line,
            "group": f"{line['setting'].capitalize()}, protocol {line['protocol']}",
            "label": f"{SCOPES[line['scope']]} ({line['n']})",
            "filled": line["low"] > 0 or line["high"] < 0,
            "note": line["signs"],
        }
        for line in rows(found)
        if (line["setting"], line["protocol"]) != (SETTINGS["default"], "paper")
    ]
    return forest(lines, "GradTree minus CART: test F1 (right: GradTree better)", width=5.0)
