#!/usr/bin/env python
"""Bring the results in README.md up to date with results/.

.venv/bin/python scripts/update_readme.py           rewrite the block between the markers
.venv/bin/python scripts/update_readme.py --check   only say whether it is up to date
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

README = REPOSITORY / "README.md"
RECORDS = REPOSITORY / "results" / "records"
RATIOS = REPOSITORY / "results" / "bench" / "ratios.csv"
BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"


def updated(text: str, block: str) -> str:
    """``text`` with ``block`` between the markers."""
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{block}\n{END}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; status 1 if stale")
    args = parser.parse_args()

    from experiments.analysis.findings import findings_in
    from experiments.render.readme import results_block

    now = README.read_text(encoding="utf-8")
    fresh = updated(now, results_block(findings_in(RECORDS), RATIOS))
    if args.check:
        return int(fresh != now)
    README.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
