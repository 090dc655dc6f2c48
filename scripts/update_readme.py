#!/usr/bin/env python
"""Bring the results in README.md up to date with results/.

.venv/bin/python scripts/update_readme.py           rewrite the block between the markers
.venv/bin/python scripts/update_readme.py --check   only say whether it is up to date
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

if TYPE_CHECKING:
    from experiments.verdicts.findings import Findings
    from experiments.verdicts.judging import Agreement

README = REPOSITORY / "README.md"
RECORDS = REPOSITORY / "results" / "records"
BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
NOT_RUN = "not run yet"
OUTCOMES = ("exact", "consistent", "better", "worse", "missing")


def agreement_cell(agreement: Agreement) -> str:
    """Counts such as ``30 exact, 4 consistent, 2 missing``."""
    if not agreement.n:
        return NOT_RUN
    counts = [(agreement.counts[outcome], outcome) for outcome in OUTCOMES]
    return ", ".join(f"{count} {outcome}" for count, outcome in counts if count)


def agreement_table(found: Findings) -> list[str]:
    """One line per table and method that has been run, with the mean difference."""
    from experiments.tables.definitions import grids
    from experiments.verdicts.judging import agreements

    lines = [
        "| table of the paper | method | cells | mean difference |",
        "|---|---|---|---|",
    ]
    for agreement in agreements(found.verdicts):
        grid = grids()[agreement.table]
        if not agreement.n or grid.machine_dependent:
            continue
        name = next(column.name for column in grid.columns if column.method == agreement.method)
        difference = f"{agreement.mean_difference:+.{grid.decimals + 1}f}"
        lines.append(f"| {grid.title} | {name} | {agreement_cell(agreement)} | {difference} |")
    return lines


def results_block(found: Findings) -> str:
    from experiments.verdicts.judging import LEVEL
    from experiments.verdicts.text import claim_lines

    claims = claim_lines(found.claims)[0].replace("Claims of the paper", "Its claims")
    lines = [
        "Each cell of the paper beside ours: *exact* at the printed digits, *consistent* by "
        f"Welch's test at {LEVEL} (Holm's correction per table), significantly *better* or "
        "*worse*, or *missing* because it has not been run completely.",
        "",
        *agreement_table(found),
        "",
        f"{claims}.",
    ]
    return "\n".join(lines)


def updated(text: str, block: str) -> str:
    """``text`` with ``block`` between the markers."""
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{block}\n{END}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; status 1 if stale")
    args = parser.parse_args()

    from experiments.verdicts.findings import findings_in

    now = README.read_text(encoding="utf-8")
    fresh = updated(now, results_block(findings_in(RECORDS)))
    if args.check:
        return int(fresh != now)
    README.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
