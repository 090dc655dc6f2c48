"""GradTree's own defaults in words: against the paper's, and what each choice is worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments.analysis.duels import PROTOCOLS
from experiments.analysis.findings import Findings
from experiments.analysis.revised import Worth, worths_sheet
from experiments.render import numbers
from experiments.render.report import compact
from experiments.render.report.model import Section

INTRODUCTION = (
    "The estimator’s defaults are not the paper’s. Each main choice among them was set back alone, "
    "on all datasets, with ten trials. Validation rows choose runs and epochs; no choice of a fit "
    "sees test rows. The choices themselves were made on other runs of the same datasets."
)


def revised_section(found: Findings) -> tuple[Section, ...]:
    """None before the experiment has run on enough datasets."""
    if not found.revised:
        return ()
    return (
        Section(
            slug="defaults",
            title="GradTree’s own defaults",
            paragraphs=(INTRODUCTION,),
            points=tuple(revised_points(found.revised)),
            sheets=(compact.revised(found.revised), worths_sheet(found.revised)),
        ),
    )


def revised_points(found: Sequence[Worth]) -> Iterator[str]:
    """First the whole against the two others, then which choices the records support."""
    for each in found:
        if not each.choice.set_back and each.scope == "all":
            yield (
                f"Own defaults minus {each.choice.instead}, protocol {each.protocol}, "
                f"{each.contrast.n} datasets: {numbers.contrast(each.contrast)}; "
                f"{each.nodes:.0f} nodes on average instead of {each.other_nodes:.0f}."
            )
    single = [each for each in found if each.choice.set_back and each.scope == "all"]
    for protocol in PROTOCOLS:
        lines = [each for each in single if each.protocol == protocol]
        if lines:
            yield f"Protocol {protocol}: {_sorted_out(lines)}."


def _sorted_out(lines: Sequence[Worth]) -> str:
    """Which choices help, which hurt, which do neither, after Holm's correction."""
    groups: dict[str, list[str]] = {"help": [], "hurt": [], "neither": []}
    for each in lines:
        sign = "help" if each.contrast.difference.estimate > 0 else "hurt"
        told = f"{each.choice.choice} {numbers.interval(each.contrast.difference)}"
        groups[sign if each.contrast.significant else "neither"].append(told)
    words = {
        "help": "significantly better than what it replaces",
        "hurt": "significantly worse",
        "neither": "not significantly different",
    }
    return "; ".join(f"{words[key]}: {', '.join(told)}" for key, told in groups.items() if told)
