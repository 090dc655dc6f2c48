"""The nouns of the comparison with the paper: verdicts on cells, checks of claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from experiments.tables.model import Cell, Task

Outcome = Literal["exact", "consistent", "better", "worse", "missing"]
OUTCOMES: tuple[Outcome, ...] = ("exact", "consistent", "better", "worse", "missing")


@dataclass(frozen=True)
class Verdict:
    """One cell of one table beside the paper's.

    Attributes
    ----------
    table, task, dataset, method : which cell (identifiers, not printed names).
    difference : ours minus the paper's, at full precision of ours.
    p_value, p_adjusted : of the test that the two means are equal, before and after the
        correction for the many cells of the table; ``None`` where no test was needed.
    outcome : ``exact`` (mean and deviation equal as printed), ``consistent`` (no significant
        difference), ``better`` or ``worse`` (significant, in the table's own direction),
        ``missing`` (one side has no number).
    """

    table: str
    task: Task
    dataset: str
    method: str
    ours: Cell
    paper: Cell
    difference: float | None
    p_value: float | None
    p_adjusted: float | None
    outcome: Outcome
    note: str = ""


ClaimOutcome = Literal["holds", "does not hold", "cannot be told"]
CLAIM_OUTCOMES: tuple[ClaimOutcome, ...] = ("holds", "does not hold", "cannot be told")


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper's results section, checked.

    ``sentence`` is our wording of it, ``where`` the part of the paper it is from.
    ``ours`` and ``paper`` are the same numbers computed from our records and from the
    paper's printed cells; ``in_paper`` is the outcome of the check on the latter.
    """

    slug: str
    sentence: str
    where: str
    outcome: ClaimOutcome
    ours: str
    in_paper: ClaimOutcome
    paper: str
    note: str = ""
