#!/usr/bin/env python
"""Update the generated parts of the READMEs: results, and the output of every Python snippet.

.venv/bin/python scripts/update_readme.py           rewrite blocks and outputs
.venv/bin/python scripts/update_readme.py --check   only name the files that are out of date
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

PROSE = (
    "README.md",
    "gradtree/README.md",
    "baselines/README.md",
    "datasets/README.md",
    "experiments/README.md",
    "results/README.md",
    "results/DEFAULTS.md",
)
"""Files with something generated in them."""
RECORDS = REPOSITORY / "results" / "records"
RATIOS = REPOSITORY / "results" / "bench" / "ratios.csv"
RAW_TABLES = REPOSITORY / "results" / "bench" / "raw_tables.csv"
BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
BLOCK = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
SNIPPET = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<output>.*?)```", re.DOTALL)


def blocks() -> dict[str, tuple[str, ...]]:
    """What stands between the markers, by file and in the order of the markers."""
    from experiments.analysis.findings import findings_in
    from experiments.render.raw_tables import comparison
    from experiments.render.readme import answer_block, defaults_block, results_block

    found = findings_in(RECORDS)
    return {
        "README.md": (answer_block(found),),
        "results/DEFAULTS.md": (defaults_block(found), comparison(RAW_TABLES)),
        "results/README.md": (results_block(found, RATIOS),),
        "experiments/README.md": (profile_table(),),
    }


def profile_table() -> str:
    """What each profile runs, and how many jobs that is."""
    from experiments.runner.profiles import profiles, select

    rows = []
    for one in profiles().values():
        try:
            count = f"{len(select(one)):,}"
        except LookupError:  # it runs what searches find, and not all of them are finished
            count = "–"
        rows.append(f"| `{one.slug}` | {one.about} | {count} |")
    return "\n".join(["| profile | what it runs | jobs |", "|---|---|---|", *rows])


def with_blocks(text: str, generated: Sequence[str]) -> str:
    """``text`` with every generated block between its pair of markers."""
    blocks = iter(generated)
    whole = BLOCK.sub(lambda _: f"{BEGIN}\n{next(blocks)}\n{END}", text)
    if next(blocks, None) is not None:
        raise ValueError(f"{len(generated)} blocks need as many pairs of {BEGIN} and {END}")
    return whole


def output_of(code: str) -> str:
    """What a snippet prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.rstrip().splitlines())


def with_outputs(text: str, run: Callable[[str], str] = output_of) -> str:
    """``text`` with the block after each snippet as the snippet prints it."""
    return SNIPPET.sub(
        lambda found: f"```python\n{found['code']}```\n\n```text\n{run(found['code'])}```", text
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--check",
        action="store_true",
        help="change nothing; exit status 1 if a README is out of date",
    )
    args = parser.parse_args()
    generated, stale = blocks(), []
    for name in PROSE:
        path = REPOSITORY / name
        now = path.read_text(encoding="utf-8")
        fresh = with_outputs(with_blocks(now, generated[name]) if name in generated else now)
        if fresh != now:
            stale.append(name)
            if not args.check:
                path.write_text(fresh, encoding="utf-8")
    if args.check and stale:
        print(f"out of date: {', '.join(stale)}", file=sys.stderr)
    return int(args.check and bool(stale))


if __name__ == "__main__":
    raise SystemExit(main())
