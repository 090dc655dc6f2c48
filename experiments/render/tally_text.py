"""The words for verdicts: what each means, the headline, and the sentence below it."""

from __future__ import annotations

from experiments.analysis.judging import F1_MARGIN, SIZE_MARGIN
from experiments.analysis.model import Outcome
from experiments.analysis.paper import TRIALS
from experiments.analysis.statistics import LEVEL
from experiments.analysis.verifying import Tally

MEANINGS: dict[Outcome, str] = {
    "exact": "mean and deviation equal at the digits that the paper prints",
    "equivalent": f"shown to lie within {F1_MARGIN:g} of F1 or {SIZE_MARGIN:.0%} of tree size",
    "undecided": "neither different nor shown to be equivalent",
    "better": "significantly better than printed",
    "worse": "significantly worse than printed",
    "missing": "one side has no number",
}
TESTS = (
    f"Equivalent: two one-sided Welch tests place the difference within {F1_MARGIN:g} of F1, or "
    f"{SIZE_MARGIN:.0%} of the printed tree size, at the {LEVEL:.0%} level. Better and worse: "
    f"Welch’s test with Holm’s correction within a table finds a difference at {LEVEL:g}. "
    "Undecided: neither."
)


def title(found: Tally) -> str:
    """The headline. Only all ten trials may claim a number of the paper's."""
    if not found.measured:
        return "Nothing has been measured yet"
    if not found.claims:
        trials = "1 trial" if found.trials == (1, 1) else f"{found.trials_text} trials"
        return f"Measured with {trials}: too few to judge the paper’s numbers"
    exact, equivalent = found.counts["exact"], found.counts["equivalent"]
    whole = f"the paper’s {found.total:,} numbers"
    if found.measured < found.total:
        whole = f"{found.measured:,} numbers measured so far, out of {whole},"
    return f"Of {whole} {exact:,} come out exact and {equivalent:,} equivalent"


def sentence(found: Tally) -> str:
    """What becomes of the other numbers."""
    if not found.measured:
        return ""
    if not found.claims:
        return (
            f"Its cells are means of fewer trials than the paper’s {TRIALS}. What such a run can "
            "show is whether its single fits are those on record."
        )
    counts = found.counts
    parts = []
    if counts["undecided"]:
        parts.append(
            f"{counts['undecided']:,} are undecided: {found.trials_text} trials show neither a "
            f"difference nor equivalence within {F1_MARGIN:g} of F1 ({SIZE_MARGIN:.0%} of tree "
            "size)."
        )
    differing = counts["better"] + counts["worse"]
    if differing:
        parts.append(
            f"{differing:,} differ significantly ({counts['better']:,} better, "
            f"{counts['worse']:,} worse)."
        )
    if counts["missing"]:
        parts.append(f"{counts['missing']:,} have no measured counterpart.")
    if found.unfinished:
        parts.append(
            f"{found.unfinished:,} are so far from fewer trials than the paper’s {TRIALS}."
        )
    return " ".join(parts) or "None is off."
