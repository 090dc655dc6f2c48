"""The section that answers which small tree to use."""

from __future__ import annotations

from experiments.analysis.findings import Findings
from experiments.analysis.paper import method_name
from experiments.analysis.small_trees import CEILING, FREE, Comparison, compare
from experiments.analysis.small_trees_sheets import answer, sheets_of
from experiments.render.figures.cost import Point, f1_against_leaves
from experiments.render.report.gallery import Plate
from experiments.render.report.model import Section

FIGURE = "small-trees"
INTRODUCTION = (
    "I want one small, accurate tree today: which? Every learner here gets the same rows and the "
    "same five inner folds for its one or two parameters of size, scored by macro F1 on real rows "
    "only; no test row, and the CPU seconds count the tuning. Two readings: whatever size it "
    "chooses, and at most 8, 16 or 32 leaves. The CARTs are cut back until they fit, GradTree and "
    "the solvers are capped by depth; ConTree, whose searches take longest, never exceeds depth 3. "
    "Solvers get as many thresholds as a search of their depth can afford.",
    "The fresh datasets were named before any learner saw them; the choices above were made "
    "on the paper’s.",
)


def comparison_of(found: Findings) -> Comparison:
    return compare(found.results, found.datasets)


def small_trees_section(found: Findings) -> tuple[Section, ...]:
    """None before the table has lines."""
    compared = comparison_of(found)
    if not compared.lines:
        return ()
    return (
        Section(
            slug="small-trees",
            title="One small tree",
            paragraphs=INTRODUCTION,
            points=tuple(answer(compared)),
            sheets=tuple(sheets_of(compared)),
            figures=(FIGURE,),
        ),
    )


def small_trees_plate(found: Findings) -> list[Plate]:
    """F1 against leaves; nothing before the table has lines."""
    lines = [line for line in comparison_of(found).lines if line.place.protocol == "clean"]
    if not lines:
        return []
    points = [
        Point(
            line.place.group,
            method_name(line.method),
            line.means["leaves"] or 1.0,
            line.f1.estimate,
            line.place.reading == FREE,
        )
        for line in lines
        if line.method != CEILING
    ]
    ceilings = {line.place.group: line.f1.estimate for line in lines if line.method == CEILING}
    return [
        Plate(
            FIGURE,
            "F1 against leaves",
            "Protocol clean, mean over the datasets that all learners of a reading finished: "
            "at most 8, 16 and 32 leaves, and free size (hollow). Dashes are boosting’s F1.",
            f1_against_leaves(points, ceilings),
        )
    ]
