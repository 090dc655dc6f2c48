"""Tables as booktabs LaTeX, laid out as in the paper.

Each file is one ``table`` environment that needs the packages booktabs and
graphicx. The best cell is bold, ranks stand in brackets. Where a cell has fewer
trials than asked for, their number stands as an exponent; ``--`` is a gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from experiments.analysis.model import (
    TASK_NAMES,
    Block,
    Cell,
    Column,
    Entry,
    Sheet,
    SheetColumn,
    Statistic,
    Summary,
    Table,
    Task,
)
from experiments.render import numbers

GAP = "--"
FRAGILE = r"$^{\dagger}$"
FIT = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
"""Shrink what is wider than the line, leave the rest as it is."""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    ">": "$>$",
    "<": "$<$",
    "±": r"$\pm$",
    "×": r"$\times$",
}


def escape(text: str) -> str:
    """Text that LaTeX prints as it stands."""
    return "".join(_SPECIAL.get(character, character) for character in text)


def source_text(source: str) -> str:
    """Where figures are from, in a caption: records of ours are named by their protocol."""
    return f"protocol {source}" if source.isalpha() else source


def _label(name: str, source: str) -> str:
    """Tables of protocol ``paper`` go by their name alone, others by their protocol as well."""
    return f"{source}-{name}" if source.isalpha() and source != "paper" else name


def table_latex(table: Table, task: Task | None = None) -> str:
    """A whole grid, or the block of one task."""
    blocks = [block for block in table.blocks if task in (None, block.task)]
    body: list[str] = []
    for block in blocks:
        if len(blocks) > 1:
            title = TASK_NAMES[block.task]
            body.append(rf"\multicolumn{{{len(table.columns) + 1}}}{{l}}{{\emph{{{title}}}}} \\")
        body += _block_lines(table, block)
        body.append(r"\bottomrule" if block is blocks[-1] else r"\midrule")
    name = _label(table.name if task is None else f"{table.name}-{task}", table.source)
    caption = escape(_table_caption(table, blocks, task))
    header = _header([column.group for column in table.columns], _names(table.columns), "Dataset")
    return _environment(name, caption, "l" + "r" * len(table.columns), header, body)


def _names(columns: Iterable[Column]) -> list[str]:
    return [column.name for column in columns]


def _table_caption(table: Table, blocks: Sequence[Block], task: Task | None) -> str:
    scope = "" if task is None else f", {TASK_NAMES[task].lower()} datasets"
    caption = f"{table.caption}{scope} ({source_text(table.source)}). Mean ± deviation over "
    caption += f"{table.trials} trials, rank in brackets."
    cells = [cell for block in blocks for row in block.rows for cell in row.cells]
    if any(cell.partial for cell in cells):
        caption += f" Exponents: trials, where fewer than {table.trials}."
    if any(cell.pending for cell in cells):
        caption += f" {GAP}: not run."
    if any(cell.fragile for cell in cells):
        caption += " Daggers: a rounding error in the training rows changes a trial of the cell."
    return caption


def _block_lines(table: Table, block: Block) -> list[str]:
    lines = [
        _line(
            escape(row.name),
            [
                cell_latex(cell, rank, table.decimals)
                for cell, rank in zip(row.cells, row.ranks, strict=True)
            ],
        )
        for row in block.rows
    ]
    lines.append(r"\midrule")
    lines += [_summary_line(line) for line in block.summaries if line.in_paper]
    if any(cell.pending for row in block.rows for cell in row.cells):
        counts = [
            sum(row.cells[at].mean is not None for row in block.rows)
            for at in range(len(table.columns))
        ]
        lines.append(_line(f"Datasets (of {len(block.rows)})", [str(count) for count in counts]))
    return lines


def cell_latex(cell: Cell, rank: int | None, decimals: int) -> str:
    if cell.mean is None or cell.std is None:
        return escape(cell.missing) or GAP
    mean, spread = numbers.fixed(cell.mean, decimals), numbers.fixed(cell.std, decimals)
    text = rf"{mean} $\pm$ {_spread(spread, decimals)}" + ("" if rank is None else f" ({rank})")
    if rank == 1:
        text = rf"\textbf{{{text}}}"
    return text + (f"$^{{{cell.n}}}$" if cell.partial else "") + (FRAGILE if cell.fragile else "")


def _spread(text: str, decimals: int) -> str:
    """As the paper prints deviations of F1: without the zero before the point."""
    return text.removeprefix("0") if decimals == 3 else text


def _summary_line(line: Summary) -> str:
    arrow = r"$\downarrow$" if line.smaller_is_better else r"$\uparrow$"
    return _line(
        f"{escape(line.name)} {arrow}",
        [_statistic(statistic, line.decimals) for statistic in line.statistics],
    )


def _statistic(statistic: Statistic, decimals: int) -> str:
    text, spread = numbers.statistic(statistic, decimals)
    if not text:
        return GAP
    if spread:
        text += rf" $\pm$ {_spread(spread, decimals)}"
    if statistic.rank is not None:
        text += f" ({statistic.rank})"
    return rf"\textbf{{{text}}}" if statistic.rank == 1 else text


def sheet_latex(sheet: Sheet) -> str:
    """A sheet; its first column is text, numbers are set to the right."""
    body = []
    for row in sheet.rows:
        texts = [
            _entry(entry, column, _is_best(sheet, row, at))
            for at, (entry, column) in enumerate(zip(row, sheet.columns, strict=True))
        ]
        body.append(_line(texts[0], texts[1:]))
    body.append(r"\bottomrule")
    header = _header(
        [column.group for column in sheet.columns[1:]],
        [column.name for column in sheet.columns[1:]],
        sheet.columns[0].name,
    )
    alignment = "".join("r" if _numeric(sheet, at) else "l" for at in range(len(sheet.columns)))
    caption = escape(" ".join([f"{sheet.caption} ({source_text(sheet.source)}).", *sheet.notes]))
    return _environment(_label(sheet.name, sheet.source), caption, alignment, header, body)


def _numeric(sheet: Sheet, at: int) -> bool:
    return any(isinstance(row[at], int | float | Statistic) for row in sheet.rows)


def _is_best(sheet: Sheet, row: Sequence[Entry], at: int) -> bool:
    direction = sheet.best_in_row or sheet.columns[at].best
    rivals = row if sheet.best_in_row else [line[at] for line in sheet.rows]
    numbers = [value for value in map(_value, rivals) if value is not None]
    mine = _value(row[at])
    if not direction or mine is None:
        return False
    return mine == (max(numbers) if direction == "max" else min(numbers))


def _value(entry: Entry) -> float | None:
    if isinstance(entry, Statistic):
        return entry.value
    return float(entry) if isinstance(entry, int | float) else None


def _entry(entry: Entry, column: SheetColumn, best: bool) -> str:
    if isinstance(entry, Statistic):
        text = _statistic(entry, column.decimals)
    else:
        text = GAP if entry is None else escape(numbers.entry(entry, column)[0])
    return rf"\textbf{{{text}}}" if best else text


def _header(groups: Sequence[str], names: Sequence[str], corner: str) -> list[str]:
    """Column names, and above them the names of groups of columns where there are any."""
    lines = []
    if any(groups):
        spans, rules, at = [], [], 2
        for group, members in groupby(groups):
            width = len(list(members))
            spans.append(rf"\multicolumn{{{width}}}{{c}}{{{escape(group)}}}")
            if group:
                rules.append(rf"\cmidrule(lr){{{at}-{at + width - 1}}}")
            at += width
        lines += [_line("", spans), "".join(rules)]
    lines.append(_line(escape(corner), [escape(name) for name in names]))
    return lines


def _line(label: str, texts: Sequence[str]) -> str:
    return " & ".join([label, *texts]) + r" \\"


def _environment(
    name: str, caption: str, alignment: str, header: Sequence[str], body: Sequence[str]
) -> str:
    lines = [
        r"\begin{table}[p]",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\label{{tab:{name}}}",
        r"\scriptsize",
        FIT,
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        *header,
        r"\midrule",
        *body,
        r"\end{tabular}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def document_latex(inputs: Sequence[str]) -> str:
    """A document that sets all tables, one file each."""
    lines = [
        r"\documentclass[10pt,a4paper]{article}",
        r"\usepackage[margin=2cm]{geometry}",
        r"\usepackage{booktabs}",
        r"\usepackage{graphicx}",
        r"\input{macros}",
        r"\begin{document}",
        *(rf"\input{{{name}}}\clearpage" for name in inputs),
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"
