"""Sheets and sections as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.analysis.model import Sheet, Statistic
from experiments.render import numbers
from experiments.render.report.model import Section

GAP = "–"


def sheet_markdown(sheet: Sheet) -> str:
    """One pipe table; the names of groups stand before those of their columns."""
    names = [f"{c.group}: {c.name}" if c.group else c.name for c in sheet.columns]
    numeric = [
        any(isinstance(row[at], int | float | Statistic) for row in sheet.rows)
        for at in range(len(sheet.columns))
    ]
    lines = [line(names), "|" + "".join("---:|" if each else "---|" for each in numeric)]
    for row in sheet.rows:
        texts = []
        for value, column in zip(row, sheet.columns, strict=True):
            text, spread = numbers.entry(value, column)
            texts.append(f"{text} ± {spread}" if spread else text or GAP)
        lines.append(line(texts))
    return "\n".join(lines)


def line(texts: list[str]) -> str:
    """One row; a bar inside a field would end it."""
    fields = [text.replace("|", r"\|") for text in texts]
    return f"| {' | '.join(fields)} |"


def section_markdown(section: Section, more: Sequence[Sheet] = ()) -> str:
    """A section of the report as a page of its own, with further sheets at its end."""
    parts = [f"# {section.title}", *section.paragraphs]
    if section.points:
        parts.append("\n".join(f"- {point}" for point in section.points))
    for sheet in (*section.sheets, *more):
        parts += [f"## {sheet.title}", f"{sheet.caption}.", sheet_markdown(sheet)]
    return "\n\n".join(parts) + "\n"
