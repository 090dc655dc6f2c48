"""What a claim is, and how all of them are checked.

A check computes its numbers from a ``TableSet``, ours or the paper's own, and says
whether its sentence is true of it. A check that lacks cells which the paper has
raises ``UndecidedError``: nothing follows from an incomplete grid. Where a
sentence is vague ("large", "small"), the check fixes a reading and says so in
its ``note``. As in the paper these are comparisons of point estimates; how firm
they are over datasets is for ``experiments.analysis.statistics``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from experiments.analysis.grids import mean_statistic
from experiments.analysis.model import Cell, Claim, ClaimOutcome, Table, Task
from experiments.analysis.paper import TIMEOUT, TRIALS, Paper, method_name
from experiments.analysis.table_set import TableSet

SETTLED = (TIMEOUT, "memory")
"""Texts of cells that have no number and, by the paper's rules, need none."""


class UndecidedError(Exception):
    """The records do not suffice; the message says what is missing."""


@dataclass(frozen=True)
class Evidence:
    """What a check looks at: the tables to be judged, and the paper's for what must be there."""

    table_set: TableSet
    printed: TableSet
    paper: Paper
    trials: list[int] = field(default_factory=list)
    """Trials behind the cells that were looked at."""

    def table(self, name: str, task: Task, methods: Iterable[str] = ()) -> Table:
        """A table once it has every cell of these methods (all unless given) the paper has."""
        table, printed = self.table_set.tables[name], self.printed.tables[name]
        wanted = tuple(methods) or tuple(column.method for column in printed.columns)
        rows = table.block(task).rows
        whole = sum(
            all(
                settled(row.cells[table.column(method)], printed.cell(row.dataset, method))
                for method in wanted
            )
            for row in rows
        )
        if whole < len(rows):
            raise UndecidedError(f"{table.title}: {whole} of {len(rows)} {task} datasets have run")
        for row in rows:
            self.look_at(*(row.cells[table.column(method)] for method in wanted))
        return table

    def look_at(self, *cells: Cell) -> None:
        self.trials.extend(cell.n for cell in cells if cell.mean is not None)


def settled(cell: Cell, printed: Cell) -> bool:
    """There is a number, or none by the rules of the paper."""
    return (
        cell.mean is not None
        or (printed.mean is None and bool(cell.missing))
        or cell.missing in SETTLED
    )


Finding = tuple[bool | ClaimOutcome, str]
"""Whether a sentence is true of some tables, or a finer outcome, and the numbers that say so."""
Check = Callable[[Evidence], Finding]


@dataclass(frozen=True)
class Sentence:
    """A claim before it is checked."""

    slug: str
    sentence: str
    where: str
    check: Check
    note: str = ""


SENTENCES: list[Sentence] = []


def claim(slug: str, sentence: str, where: str, note: str = "") -> Callable[[Check], Check]:
    """Register a check as the meaning of a sentence."""

    def register(check: Check) -> Check:
        SENTENCES.append(Sentence(slug, sentence, where, check, note))
        return check

    return register


def check_claims(ours: TableSet, printed: TableSet, paper: Paper) -> list[Claim]:
    """Every sentence checked on our tables and, beside it, on the paper's own."""
    claims = []
    for sentence in SENTENCES:
        evidence = Evidence(ours, printed, paper)
        outcome, numbers = _check(sentence, evidence)
        in_paper, printed_numbers = _check(sentence, Evidence(printed, printed, paper))
        claims.append(
            Claim(
                sentence.slug,
                sentence.sentence,
                sentence.where,
                outcome,
                numbers,
                in_paper,
                printed_numbers,
                sentence.note,
                min(evidence.trials, default=TRIALS),
            )
        )
    return claims


def _check(sentence: Sentence, evidence: Evidence) -> tuple[ClaimOutcome, str]:
    try:
        holds, numbers = sentence.check(evidence)
    except UndecidedError as gap:
        return "cannot be told", str(gap)
    fewest = min(evidence.trials, default=TRIALS)
    if fewest < TRIALS:
        numbers += f" (cells from {fewest} trials upwards)"
    if isinstance(holds, str):
        return holds, numbers
    return ("holds" if holds else "does not hold"), numbers


def listed(values: dict[str, float], decimals: int) -> str:
    return ", ".join(f"{method_name(key)} {value:.{decimals}f}" for key, value in values.items())


def leads(values: dict[str, float], method: str, smaller: bool = False) -> bool:
    """Strictly best: a tie is no lead, and a method without a number leads nothing."""
    if method not in values:
        return False
    others = [value for key, value in values.items() if key != method]
    return values[method] < min(others) if smaller else values[method] > max(others)


def without(values: dict[str, float], method: str) -> dict[str, float]:
    return {key: value for key, value in values.items() if key != method}


def summary(table: Table, task: Task, name: str) -> dict[str, float]:
    """A summary line as method -> value."""
    line = table.block(task).summary(name)
    return {
        column.method: statistic.value
        for column, statistic in zip(table.columns, line.statistics, strict=True)
        if statistic.value is not None
    }


def means(table: Table, task: Task, methods: Sequence[str] = ()) -> dict[str, float]:
    """Mean over datasets as method -> value, of all methods unless given."""
    wanted = methods or [column.method for column in table.columns]
    found = {method: mean_statistic(table, task, method).value for method in wanted}
    return {method: mean for method, mean in found.items() if mean is not None}
