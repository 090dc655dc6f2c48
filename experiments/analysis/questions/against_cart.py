"""Should I use GradTree: against CART and pruned CART, by metric, protocol and settings."""

from __future__ import annotations

from itertools import product
from typing import Any

import pandas as pd

from experiments.analysis import pairwise
from experiments.analysis.answer import Answer
from experiments.analysis.pairwise import PROTOCOLS, SCOPES, Side, listed, rows, table, told
from experiments.analysis.printed import TASKS, Printed
from experiments.analysis.questions import nested
from experiments.analysis.questions.nested import LOSSES, METRICS
from experiments.analysis.runs import Runs

RIVALS = ("cart", "cart-pruned")
SETTINGS = {
    "tuned": "published hyperparameters",
    "default": "default hyperparameters",
    "searched": "our own search",
}
NESTED = "hyperparameters tuned inside each trial"
TINY = ("zoo", "lymphography")
"""Datasets with classes of two to five rows."""
Place = tuple[dict[str, str], Side, Side]


def place(rival: str, setting: str, protocol: str) -> Place:
    """GradTree and a rival; pruned CART chooses its own size, so its default run stands always."""
    theirs = "default" if rival == "cart-pruned" else setting
    line = {"against": rival, "setting": SETTINGS[setting], "protocol": protocol}
    return line, (protocol, setting, "gradtree"), (protocol, theirs, rival)


def tests(runs: Runs, printed: Printed) -> pd.DataFrame:
    """All lines for which enough datasets have been run; Holm's correction over all of them."""
    places = [place(*each) for each in product(RIVALS, SETTINGS, PROTOCOLS)]
    return pairwise.contrasts(runs, printed, places)


def estimates(runs: Runs) -> pd.DataFrame:
    """How much better GradTree is, by rival, setting, protocol, metric, task and datasets."""
    places: list[Place] = []
    for rival, theirs in zip(RIVALS, nested.RIVALS, strict=True):
        line = {"against": rival, "setting": NESTED, "protocol": nested.PLACE[0]}
        places.append((line, (*nested.PLACE, nested.MINE), (*nested.PLACE, theirs)))
        places += [place(rival, *each) for each in product(("tuned", "default"), PROTOCOLS[::-1])]
    lines = []
    for (line, mine, other), metric in product(places, METRICS):
        gaps = nested.advantage(runs, mine, other, metric)
        for scope in TASKS:
            own, fewer = gaps[scope], gaps[scope].drop(list(TINY), errors="ignore")
            parts = {"all": own, "without Zoo and Lymphography": fewer}
            for subset in parts if len(fewer) < len(own) else ("all",):
                found = pairwise.estimate(parts[subset], metric not in LOSSES)
                if found is not None:
                    where = {"metric": METRICS[metric], "scope": scope, "subset": subset}
                    lines.append({**line, **where, **found})
    return pd.DataFrame(lines)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    tested, found = tests(runs, printed), estimates(runs)
    if tested.empty or found.empty:
        return None
    whole = (found["against"] == "cart") & (found["subset"] == "all") & (found["metric"] == "F1")
    frames = {"use-summary": found[whole], "use": found, "gradtree-against-cart": tested}
    return Answer(
        "use",
        "Should I use it?",
        tuple(_sentences(runs, found)),
        tuple(table(name, frame, runs.name) for name, frame in frames.items()),
        (pairwise.figure("gradtree-against-cart", lambda: _draw(found[whole])),),
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
            f"{nested.verdict(lines)}: both tuned on the training rows of each trial, under "
            f"protocol `clean`, GradTree minus CART in macro F1 is {nested.told(lines)}."
        )
        sentences += nested.unfinished(runs)
    elif f1:
        words = "on {n} {scope} datasets"
        sentences.append(
            f"{_word(f1)}: with {setting} and without the leak, GradTree minus CART is "
            f"{told(f1, words)} in F1."
        )
    if f1:
        chances = [
            f"{line['better']:.2f}, {line['equivalent']:.2f} and {line['worse']:.2f} on "
            f"{SCOPES[line['scope']]} data"
            for line in f1
        ]
        expected = [
            f"between {line['new low']:+.3f} and {line['new high']:+.3f} ({SCOPES[line['scope']]})"
            for line in f1
        ]
        sentences.append(f"On one more dataset like these expect {listed(expected)}.")
        sentences.append(
            "Probability that on the typical dataset GradTree is better, within ±0.01, worse: "
            f"{'; '.join(chances)}."
        )
    for words, sign in (("ROC AUC", ""), ("log loss", " (positive: GradTree's is lower)")):
        if own := rows(fairest, metric=words):
            sentences.append(f"In {words}{sign}: {told(own, '({scope}, {signs})')}.")
    printed = rows(cart, protocol="paper", metric="F1", setting=SETTINGS["tuned"])
    same = found[(found["metric"] == "F1") & (found["protocol"] == "clean")]
    same = same[same["setting"] == setting]
    tiny = rows(same[same["subset"] != "all"], against="cart")
    pruned = rows(same[same["subset"] == "all"], against="cart-pruned")
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


def _draw(found: pd.DataFrame) -> Any:
    from experiments.analysis.drawing import forest

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


QUESTIONS = {20: answer}
