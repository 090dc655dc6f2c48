"""Verdicts, claims and rows in words: for a terminal, and sentences that page and READMEs share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from experiments.analysis.judging import (
    F1_MARGIN,
    SIZE_MARGIN,
    Agreement,
    agreements,
    published_run,
)
from experiments.analysis.model import (
    CLAIM_OUTCOMES,
    TASK_NAMES,
    Cell,
    Claim,
    ClaimOutcome,
    Outcome,
    Table,
    Verdict,
)
from experiments.analysis.paper import TRIALS, Grid, grids
from experiments.analysis.statistics import LEVEL
from experiments.analysis.table_set import DatasetRow
from experiments.analysis.verifying import Tally, tally
from experiments.core.text import table as text_table
from experiments.render import numbers

MEANINGS: dict[Outcome, str] = {
    "exact": "mean and deviation equal to the digits that the paper prints",
    "equivalent": f"shown to lie within {F1_MARGIN:g} of F1 or {SIZE_MARGIN:.0%} of tree size",
    "undecided": "shown neither to differ nor to be equivalent",
    "better": "significantly better than printed",
    "worse": "significantly worse than printed",
    "missing": "the paper or this suite has no number",
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
        whole = f"{found.measured:,} numbers measured so far, out of {whole}"
    return f"Of {whole}, {exact:,} are exact and {equivalent:,} equivalent"


def sentence(found: Tally) -> str:
    """What becomes of the other numbers."""
    if not found.measured:
        return ""
    if not found.claims:
        return (
            f"The cells are means of fewer trials than the paper’s {TRIALS}. Such a run can only "
            "show whether its fits equal the committed ones."
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
        parts.append(f"{found.unfinished:,} come from fewer than {TRIALS} trials so far.")
    return " ".join(parts) or "No number differs."


def verdict_lines(verdicts: Sequence[Verdict]) -> list[str]:
    """What may be said in all, then counts per table and method, e.g. ``CART: 36/36 exact``."""
    found = tally(verdicts)
    lines = [title(found)]
    if found.measured:
        lines += [sentence(found), TESTS]
    compared = agreements(verdicts)
    for name, grid in grids().items():
        lines.append(f"\n{grid.title}" + (" (another machine)" if grid.machine_dependent else ""))
        columns = [each for each in compared if each.table == name]
        if any(each.n for each in columns):
            for each in columns:
                lines.append(f"  {agreement_line(each, grid)}")
                published = published_run(each, compared)
                if published is not None and published.n:
                    other = agreement_line(published, grids()[published.table])
                    lines.append(f"    against the paper's ablation table, {other}")
        else:
            lines.append("  not run")
    return lines


def agreement_line(agreement: Agreement, grid: Grid) -> str:
    """One method in one table; counts are of the cells in which the paper has a number."""
    name = next(column.name for column in grid.columns if column.method == agreement.method)
    counts = dict(agreement.counts)
    if agreement.few_trials:
        parts = [f"{count} {outcome}" for outcome, count in counts.items() if count]
        fewest, most = agreement.trials
        trials = f"{most}" if fewest == most else f"{fewest} to {most}"
        noun = "trial" if most == 1 else "trials"
        return f"{name}: {', '.join(parts)}; from {trials} {noun}, not judged"
    parts = [f"{counts.pop('exact')}/{agreement.total} exact"]
    parts += [f"{count} {outcome}" for outcome, count in counts.items() if count]
    pooled = pooled_text(agreement, grid)
    return f"{name}: {', '.join(parts)}" + (f"; {pooled}" if pooled else "")


def pooled_text(agreement: Agreement, grid: Grid) -> str:
    """The test over datasets beside a column's counts; nothing where every cell is exact."""
    if agreement.mean_difference is None or agreement.counts["exact"] == agreement.total:
        return ""
    difference = numbers.signed(agreement.mean_difference, grid.decimals + 1)
    return f"mean difference {difference} ({numbers.p_phrase(agreement.p_value or 0.0)})"


PLURAL: dict[ClaimOutcome, str] = {
    "holds": "hold",
    "holds as printed only": "hold as printed only",
    "does not hold": "do not hold",
    "cannot be told": "cannot be told",
}


def counted_claims(counts: Mapping[ClaimOutcome, int]) -> str:
    """``23 hold, 3 do not hold, 0 cannot be told``; the finer outcome only where it occurs."""
    return ", ".join(
        f"{counts[outcome]} {outcome if counts[outcome] == 1 else PLURAL[outcome]}"
        for outcome in CLAIM_OUTCOMES
        if counts[outcome] or outcome != "holds as printed only"
    )


def claim_lines(claims: Sequence[Claim], in_full: bool = False) -> list[str]:
    """How many claims hold, and which do not; with ``in_full`` the numbers of all."""
    counts = Counter(claim.outcome for claim in claims)
    head = counted_claims(counts)
    lines = [f"Claims of the paper ({len(claims)}): {head}"]
    for claim in claims:
        if in_full or claim.outcome in ("does not hold", "holds as printed only"):
            lines.append(f"  {claim.outcome}: {claim.sentence} [{claim.slug}]")
            lines.append(f"    ours:  {claim.ours}")
            lines.append(f"    paper: {claim.paper}")
            if claim.note:
                lines.append(f"    {claim.note}")
    return lines


def comparison_text(comparison: DatasetRow) -> str:
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
    return f"{numbers.fixed(cell.mean, decimals)} ± {numbers.fixed(cell.std, decimals)}{part}"


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
            texts = [numbers.statistic(each, line.decimals)[0] for each in line.statistics]
            rows.append([line.name, *(text or "–" for text in texts)])
        parts.append(f"\n{TASK_NAMES[block.task]}\n{text_table(header, rows)}")
    return "\n".join(parts)
