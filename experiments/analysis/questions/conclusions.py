"""Do the paper's conclusions hold: as printed, here, with other seeds, without the leak? Claims are
graded by how much of the printed effect is kept; fewer trials than the paper's judge nothing.
"""

import math
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.analysis import claims
from experiments.analysis.answer import Answer, tables
from experiments.analysis.claims import Evidence, Finding, UndecidedError
from experiments.analysis.printed import TRIALS, Printed
from experiments.analysis.runs import Runs

UNTOLD = "cannot be told"
TUNED = ("test-f1-tuned", "train-f1-tuned", "tree-size-tuned")
"""Tables whose GradTree column another seed changes."""
IN_FULL = 0.8
"""Share of the printed effect from which a claim counts as kept in full."""
STREAMS = {"seeds-authors-stream": "the authors' stream", "seeds": "another stream"}
Sentence = dict[str, Any]


def sentences() -> list[Sentence]:
    """Those of ``claims.toml``."""
    path = Path(claims.__file__).with_suffix(".toml")
    return list(tomllib.loads(path.read_text(encoding="utf-8"))["claim"])


def check(sentence: Sentence, evidence: Evidence) -> tuple[str, Finding]:
    """What the function of a sentence finds, and in a word."""
    evidence.trials, evidence.used = [], set()
    try:
        found = getattr(claims, sentence["check"])(evidence, **sentence.get("args", {}))
    except UndecidedError as gap:
        return UNTOLD, Finding(False, str(gap))
    fewest = min(evidence.trials, default=TRIALS)
    if fewest < TRIALS:
        told = f"{found.numbers} (cells from {fewest} trials upwards: too few to judge)"
        return UNTOLD, Finding(found.holds, told)
    plain = "holds" if found.holds else "does not hold"
    return (found.holds if isinstance(found.holds, str) else plain), found


def grade(outcome: str, kept: float) -> str:
    """``in full``, ``in part``, ``not``, or ``cannot be told``."""
    if outcome == UNTOLD:
        return outcome
    if math.isnan(kept):
        return {"holds": "in full", "does not hold": "not"}.get(outcome, "in part")
    return "in full" if kept >= IN_FULL else "in part" if kept > 0 else "not"


def other_draws(runs: Runs) -> list[Runs]:
    """Tuned runs with those of GradTree from each other seed that has them all, of one stream."""
    tuned, unpenalised = (runs.of("paper", name) for name in ("tuned", "no-penalty"))
    others = [tuned[tuned["method"] != "gradtree"], unpenalised]
    for experiment in STREAMS:
        rows = runs.of("paper", experiment)
        rows = rows[rows["method"] == "gradtree"].assign(experiment="tuned")
        drawn = [own for _, own in rows.groupby("seed") if (own["status"] == "ok").all()]
        if drawn:
            return [replace(runs, frame=pd.concat([*others, own])) for own in drawn]
    return []


def check_claims(runs: Runs, paper: Printed) -> pd.DataFrame:
    """Every sentence on the paper's numbers, ours, those of other seeds, and without the leak."""
    here, clean, printed = (
        Evidence(paper, own, protocol, runs.name)
        for own, protocol in ((runs, "paper"), (runs, "clean"), (None, "paper"))
    )
    draws = [Evidence(paper, own, names=runs.name) for own in other_draws(runs)]
    lines = []
    for each in sentences():
        outcome, ours = check(each, here)
        seeds = ""
        if draws and outcome != UNTOLD and here.used and here.used <= set(TUNED):
            others = [check(each, source)[0] for source in draws]
            seeds = f"{[outcome, *others].count('holds')} of {len(draws) + 1}"
        in_paper, theirs = check(each, printed)
        without_leak, unleaked = check(each, clean)
        kept = ours.effect / theirs.effect if theirs.effect > 0 else math.nan
        lines.append(
            {"claim": each["slug"], "sentence": each["sentence"], "where": each["where"]}
            | {"outcome": outcome, "ours": ours.numbers}
            | {"in_paper": in_paper, "paper": theirs.numbers, "note": each.get("note", "")}
            | {"printed_effect": theirs.effect, "effect": ours.effect, "kept": kept}
            | {"grade": grade(outcome, kept), "seeds": seeds}
            | {"clean": without_leak, "clean_numbers": unleaked.numbers}
        )
    return pd.DataFrame(lines)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found = check_claims(runs, printed)
    if (found["outcome"] == UNTOLD).all():
        return None
    kernels = found["note"].str.contains("compiled kernels")
    shown = found.assign(where=found["where"] + kernels.map({True: "; our kernels", False: ""}))
    made = tables({"conclusions": shown, "claims": found})
    sentences, title = [*_sentences(runs, found)], "Do its conclusions hold?"
    return Answer("conclusions", title, sentences, made, (), ["conclusions"])


def _sentences(runs: Runs, found: pd.DataFrame) -> Iterator[str]:
    words = {"in full": "are kept in full", "in part": "in part", "not": "not", UNTOLD: UNTOLD}
    speed = found["where"].str.startswith("runtime")
    ours = (speed & found["note"].str.contains("compiled kernels")).sum()
    grades = found.loc[~speed, "grade"].value_counts().reindex(list(words), fill_value=0)
    told = ", ".join(f"{grades[each]} {text}" for each, text in words.items())
    word = "Mostly" if 2 * grades["in full"] > grades.sum() else "In part"
    yield (
        f"{word}: of {grades.sum()} sentences of the paper on scores and sizes {told} "
        f"({speed.sum()} on speed are counted apart; {ours} of these are about the speed of our "
        "own programs)."
    )
    first = found.set_index("claim").loc["binary-mrr"]
    if first["grade"] != UNTOLD:
        seeds = f"; it leads for {first['seeds']} seeds" if first["seeds"] else ""
        lost = first["clean"] == "does not hold"
        gone = "; under protocol `clean` the lead is gone" if lost else ""
        yield (
            "The headline, GradTree's lead in mean reciprocal rank on binary data, is "
            f"{first['effect']:+.3f} where {first['printed_effect']:+.3f} is printed{seeds}{gone}."
        )
    if known := (found["clean"] != UNTOLD).sum():
        held = (found["clean"] == "holds").sum()
        yield (
            f"Without the label leak (protocol `clean`) {known} of all {len(found)} sentences "
            f"could be checked: {held} hold as printed, {known - held} do not."
        )
    shares = found["kept"].map(lambda kept: "" if kept != kept else f" ({kept:.0%} of the effect)")
    lines = found["sentence"].str.removesuffix(".") + shares + "."
    for each, text in (("not", "Not kept"), ("in part", "Kept in part")):
        if own := list(lines[found["grade"] == each]):
            yield f"{text}: {' '.join(own)}"
    stream = next((words for name, words in STREAMS.items() if len(runs.of("paper", name))), "")
    if stream:
        yield f"Seeds: the authors' draw and ten other seeds of {stream}."


QUESTIONS = {15: answer}
