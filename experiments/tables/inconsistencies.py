"""The list of printed figures that the paper's own cells contradict, as a sheet."""

from __future__ import annotations

from experiments.tables.definitions import grids, method_name
from experiments.tables.model import TASK_NAMES, Sheet, SheetColumn
from experiments.verdicts.paper import Paper


def inconsistencies_sheet(paper: Paper) -> Sheet:
    names = {dataset.slug: dataset.name for dataset in paper.datasets}
    return Sheet(
        name="paper-inconsistencies",
        title="Inconsistencies of the paper",
        caption="Printed figures that the paper's own printed cells contradict",
        source="paper, as printed",
        columns=tuple(
            SheetColumn(name)
            for name in (
                *("Table", "Task", "Line", "Method", "Figure"),
                *("printed", "from the cells", "why"),
            )
        ),
        rows=tuple(
            (
                grids()[known.table].title,
                TASK_NAMES[known.task],
                known.statistic or names[known.dataset],
                method_name(known.method),
                known.field,
                known.printed,
                known.recomputed,
                known.reason,
            )
            for known in paper.inconsistencies
        ),
    )
