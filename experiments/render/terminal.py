"""Verdicts, claims and the row of one dataset as text for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from experiments.analysis.definitions import Grid, grids
from experiments.analysis.judging import LEVEL, Agreement, agreements
from experiments.analysis.model import (
    CLAIM_OUTCOMES,
    TASK_NAMES,
    Cell,
    Claim,
    ClaimOutcome,
    Table,
    Verdict,
)
from experiments.analysis.one_dataset import Comparison
from experiments.core.text import table as text_table


def verdict_lines(verdicts: Sequence[Verdict]) -> list[str]:
    """Counts per table and method, e.g. ``CART: 36/36 exact``."""
    lines = [
        "Cells beside the paper's: exact as printed, or by Welch's test with Holm's correction "
        f"per table at {LEVEL}"
    ]
    compared = agreements(verdicts)
    for name, grid in grids().items():
        lines.append(f"\n{grid.title}" + (" (another machine)" if grid.machine_dependent else ""))
        columns = [each for each in compared if each.table == name]
        if any(each.n for each in columns):
            lines += [f"  {agreement_line(each, grid)}" for each in columns]
        else:
            lines.append("  not run")
    return lines


def agreement_line(agreement: Agreement, grid: Grid) -> str:
    """One method in one table; counts are of the cells in which the paper has a number."""
    name = next(column.name for column in grid.columns if column.method == agreement.method)
    counts = dict(agreement.counts)
    parts = [f"{counts.pop('exact')}/{agreement.total} exact"]
    parts += [f"{count} {outcome}" for outcome, count in counts.items() if count]
    line = f"{name}: {', '.join(parts)}"
    if agreement.mean_difference is None or agreement.counts["exact"] == agreement.total:
        return line
    return (
        f"{line}; mean difference {agreement.mean_difference:+.{grid.decimals + 1}f} "
        f"(p = {agreement.p_value:.3f})"
    )


PLURAL: dict[ClaimOutcome, str] = {
    "holds": "hold",
    "does not hold": "do not hold",
    "cannot be told": "cannot be told",
}


def claim_lines(claims: Sequence[Claim], in_full: bool = False) -> list[str]:
    """How many claims hold, and which do not; with ``in_full`` the numbers of all."""
    counts = Counter(claim.outcome for claim in claims)
    head = ", ".join(f"{counts[outcome]} {PLURAL[outcome]}" for outcome in CLAIM_OUTCOMES)
    lines = [f"Claims of the paper ({len(claims)}): {head}"]
    for claim in claims:
        if in_full or claim.outcome == "does not hold":
            lines.append(f"  {claim.outcome}: {claim.sentence} [{claim.slug}]")
            lines.append(f"    ours:  {claim.ours}")
            lines.append(f"    paper: {claim.paper}")
            if claim.note:
                lines.append(f"    {claim.note}")
    return lines


def comparison_text(comparison: Comparison) -> str:
    """Method by method: ours, the paper's, and the verdict; ranks where the paper has no table."""
    table = comparison.table
    if not comparison.verdicts:
        return _ranked_text(table)
    names = {column.method: column.name for column in table.columns}
    rows = [
        [
            names[verdict.method],
            cell_text(verdict.ours, table.decimals),
            cell_text(verdict.paper, table.decimals),
            "not run" if verdict.ours.pending else verdict.outcome,
        ]
        for verdict in comparison.verdicts
    ]
    return f"{table.title}\n" + text_table(["", "ours", "paper", "verdict"], rows)


def _ranked_text(table: Table) -> str:
    rows = [
        [column.name, cell_text(cell, table.decimals), "–" if rank is None else str(rank)]
        for block in table.blocks
        for row in block.rows
        for column, cell, rank in zip(table.columns, row.cells, row.ranks, strict=True)
    ]
    return f"{table.title}\n" + text_table(["", "ours", "rank"], rows)


def cell_text(cell: Cell, decimals: int) -> str:
    """``0.938 ± 0.057``, with the number of trials where some are missing."""
    if cell.mean is None or cell.std is None:
        return cell.missing or "–"
    part = f" ({cell.n} of {cell.expected} trials)" if cell.partial else ""
    return f"{cell.mean:.{decimals}f} ± {cell.std:.{decimals}f}{part}"


def table_text(table: Table) -> str:
    """A whole grid for a terminal: means, with the summary lines below each task."""
    header = ["", *(column.name for column in table.columns)]
    parts = [table.title]
    for block in table.blocks:
        rows = [
            [row.name, *(cell_text(cell, table.decimals) for cell in row.cells)]
            for row in block.rows
        ]
        for line in block.summaries:
            values = [statistic.value for statistic in line.statistics]
            rows.append(
                [line.name, *("–" if v is None else f"{v:.{line.decimals}f}" for v in values)]
            )
        parts.append(f"\n{TASK_NAMES[block.task]}\n{text_table(header, rows)}")
    return "\n".join(parts)
