"""Do the paper's conclusions hold?"""

from __future__ import annotations

import math
from collections import Counter

from experiments.analysis.answer import Answer
from experiments.analysis.claims import STREAMS, Claim, check_claims, claims_frame
from experiments.analysis.pairwise import table
from experiments.analysis.printed import Printed
from experiments.analysis.runs import Runs

ORDER = 15
GRADES = ("in full", "in part", "not", "cannot be told")


def answer(runs: Runs, printed: Printed) -> Answer | None:
    claims = check_claims(runs, printed)
    if all(each.outcome == "cannot be told" for each in claims):
        return None
    frame = claims_frame(claims)
    kernels = frame["note"].str.contains("compiled kernels")
    shown = frame.assign(where=frame["where"] + kernels.map({True: "; our kernels", False: ""}))
    return Answer(
        "conclusions",
        "Do its conclusions hold?",
        tuple(_sentences(runs, claims)),
        (table("conclusions", shown), table("claims", frame)),
        shown=("conclusions",),
    )


def _sentences(runs: Runs, claims: list[Claim]) -> list[str]:
    grades = Counter(each.grade for each in claims)
    told = [f"{grades[grade]} {words}" for grade, words in zip(GRADES, _WORDS, strict=True)]
    word = "Mostly" if 2 * grades["in full"] > len(claims) else "In part"
    sentences = [f"{word}: of {len(claims)} sentences of the paper {', '.join(told)}."]
    first = next((each for each in claims if each.sentence.slug == "binary-mrr"), None)
    if first is not None and first.grade != "cannot be told":
        sentences.append(
            f"The headline, best mean reciprocal rank on binary data, is true here by "
            f"{first.ours.effect:+.3f} where the paper prints {first.paper.effect:+.3f}"
            + (f", and for {first.seeds} seeds" if first.seeds else "")
            + "."
        )
    known = [each for each in claims if each.clean_outcome != "cannot be told"]
    held = sum(each.clean_outcome == "holds" for each in known)
    if known:
        sentences.append(
            f"Without the label leak {held} of the {len(known)} that can be told hold."
        )
    for grade, words in (("not", "Not kept"), ("in part", "Kept in part")):
        lines = [_line(each) for each in claims if each.grade == grade]
        if lines:
            sentences.append(f"{words}: {' '.join(lines)}")
    stream = next((name for name in STREAMS if len(runs.of("paper", name))), "")
    if stream:
        own = "the authors' stream" if stream == STREAMS[0] else "another stream"
        sentences.append(f"Seeds: the authors' draw and ten other seeds of {own}.")
    return sentences


_WORDS = ("are kept in full", "in part", "not", "cannot be told")


def _line(claim: Claim) -> str:
    share = "" if math.isnan(claim.kept) else f" ({claim.kept:.0%} of the effect)"
    return f"{claim.sentence.sentence.removesuffix('.')}{share}."
