"""The accepted verdicts: committed once, compared with ever after.

``results/verdicts.csv`` and ``results/claims.csv`` hold the outcome that was
last looked at and accepted. A change for the worse is a regression: a cell
that was ``exact`` and is only ``equivalent`` now, that was ``equivalent`` and is
``undecided`` or differs significantly now, that had a result and has none, or a
claim that held. Improvements are none. A dataset that nobody could load is no
result at all, neither in its cells nor in the claims that need them, and in a
store that is not whole neither is what was run with fewer trials than the
paper's.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments.analysis.definitions import grids
from experiments.analysis.model import CLAIM_OUTCOMES, OUTCOMES, Claim, Verdict
from experiments.analysis.paper import TRIALS
from experiments.core.checks import UserError

FOLDER = Path(__file__).resolve().parents[2] / "results"
VERDICTS = "verdicts.csv"
CLAIMS = "claims.csv"

SEVERITY: dict[str, int] = {outcome: place for place, outcome in enumerate(OUTCOMES)}
NO_DATA = "no data"
CLAIM_SEVERITY: dict[str, int] = {outcome: place for place, outcome in enumerate(CLAIM_OUTCOMES)}

CellKey = tuple[str, str, str]


@dataclass(frozen=True)
class Accepted:
    """Outcomes by (table, dataset, method), and of claims by their slug."""

    cells: Mapping[CellKey, str]
    claims: Mapping[str, str]


def read_accepted(folder: Path) -> Accepted | None:
    """What was accepted last, or ``None`` if nothing ever was."""
    if not (folder / VERDICTS).exists() or not (folder / CLAIMS).exists():
        return None
    with (folder / VERDICTS).open(newline="", encoding="utf-8") as file:
        cells = {
            (row["table"], row["dataset"], row["method"]): row["outcome"]
            for row in csv.DictReader(file)
        }
    with (folder / CLAIMS).open(newline="", encoding="utf-8") as file:
        claims = {row["claim"]: row["outcome"] for row in csv.DictReader(file)}
    return Accepted(cells, claims)


def regressions(
    accepted: Accepted, verdicts: Iterable[Verdict], claims: Iterable[Claim], whole: bool = True
) -> list[str]:
    """What is worse than accepted, one line each.

    Parameters
    ----------
    whole : the store should have every result. Otherwise what has not been run, or
        not with the paper's number of trials, is no regression.
    """
    lines = []
    judged = list(verdicts)
    no_data = any(verdict.ours.missing == NO_DATA for verdict in judged)
    for verdict in judged:
        before = accepted.cells.get((verdict.table, verdict.dataset, verdict.method))
        if before is None or grids()[verdict.table].machine_dependent:
            continue
        if verdict.ours.missing == NO_DATA:
            continue
        if not whole and _unfinished(verdict):
            continue
        if SEVERITY[verdict.outcome] > _severity(SEVERITY, before):
            lines.append(
                f"{verdict.table}: {verdict.method} on {verdict.dataset} was {before}, "
                f"is {verdict.outcome}{_figures(verdict)}"
            )
    for each in claims:
        held = accepted.claims.get(each.slug)
        if held is None or (each.outcome == "cannot be told" and (no_data or not whole)):
            continue
        if not whole and each.trials < TRIALS:
            continue
        if CLAIM_SEVERITY[each.outcome] > _severity(CLAIM_SEVERITY, held):
            lines.append(f"claim {each.slug}: was {held!r}, is {each.outcome!r} ({each.ours})")
    return lines


def _unfinished(verdict: Verdict) -> bool:
    few = verdict.ours.mean is not None and verdict.ours.n < verdict.paper.n
    return verdict.ours.pending or verdict.ours.partial or few


def _severity(scale: Mapping[str, int], outcome: str) -> int:
    if outcome not in scale:
        raise UserError(
            f"unknown outcome {outcome!r} among the accepted verdicts; rewrite them with "
            "`python -m experiments verify --update`"
        )
    return scale[outcome]


def _figures(verdict: Verdict) -> str:
    if verdict.ours.mean is None or verdict.paper.mean is None:
        return f" ({verdict.note})" if verdict.note else ""
    return f" (ours {verdict.ours.mean:.4f}, paper {verdict.paper.mean:g})"
