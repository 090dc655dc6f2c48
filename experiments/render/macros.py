r"""Single numbers as LaTeX macros, to be quoted in a text: ``\BinaryMRRGradTree`` and the like.

A name is put together from what it stands for, digits spelled out, e.g.
``\TestFOneTunedBinaryMRRDLEightFive``; tables of the clean protocol begin with ``Clean``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from experiments.analysis.model import CLAIM_OUTCOMES, OUTCOMES, Claim, Table, Verdict
from experiments.analysis.table_set import Book
from experiments.render import numbers
from experiments.render.latex import GAP

_DIGITS = dict(
    zip(
        "0123456789",
        ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"),
        strict=True,
    )
)


def macro_name(*parts: str) -> str:
    """Letters only, as TeX wants: words capitalised and joined, digits spelled out."""
    words = [word for part in parts for word in re.split(r"[^A-Za-z0-9]+", part) if word]
    spelled = ("".join(_DIGITS.get(letter, letter) for letter in word) for word in words)
    return "".join(word[0].upper() + word[1:] for word in spelled)


def macros_latex(
    books: Iterable[Book], verdicts: Iterable[Verdict] = (), claims: Iterable[Claim] = ()
) -> str:
    r"""One ``\newcommand`` per summary figure, and the counts of verdicts and claims."""
    lines = []
    for book in books:
        prefix = "" if book.source == "paper" else book.source
        for table in book.tables.values():
            lines += list(_table_macros(table, prefix))
    lines += list(_counts(verdicts, claims))
    return "".join(rf"\newcommand{{\{name}}}{{{value}}}" + "\n" for name, value in lines)


def _table_macros(table: Table, prefix: str) -> Iterator[tuple[str, str]]:
    for block in table.blocks:
        for line in block.summaries:
            for column, statistic in zip(table.columns, line.statistics, strict=True):
                name = macro_name(prefix, table.name, block.task, line.name, column.name)
                yield name, numbers.statistic(statistic, line.decimals)[0] or GAP


def _counts(verdicts: Iterable[Verdict], claims: Iterable[Claim]) -> Iterator[tuple[str, str]]:
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for verdict in verdicts:
        if verdict.paper.mean is not None:
            line = counts.setdefault((verdict.table, verdict.method), dict.fromkeys(OUTCOMES, 0))
            line[verdict.outcome] += 1
    for (table, method), line in counts.items():
        for outcome, count in line.items():
            yield macro_name("Cells", table, method, outcome), str(count)
    outcomes = [claim.outcome for claim in claims]
    if outcomes:
        for claim_outcome in CLAIM_OUTCOMES:
            yield macro_name("Claims", claim_outcome), str(outcomes.count(claim_outcome))
