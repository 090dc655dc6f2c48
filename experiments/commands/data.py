"""``data``: fetch and verify the datasets, and say how to get those that are missing."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.core.checks import EXIT_DONE, EXIT_INCOMPLETE, UserError

if TYPE_CHECKING:
    from rich.table import Table

    from datasets.availability import Availability
    from datasets.record import Record


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from datasets import SOURCES

    parser = verbs.add_parser(
        "data",
        help="fetch and verify the datasets",
        description=(
            "Load each dataset from the first source that has it, verify it, keep a copy in the "
            "cache, and say how to get those that are missing. Exit status: 0 all are available, "
            "3 some are not."
        ),
    )
    parser.add_argument(
        "datasets", nargs="*", metavar="DATASET", help="names or slugs (default: the paper's 36)"
    )
    parser.add_argument(
        "--mirror",
        type=Path,
        metavar="FOLDER",
        help="folder with original files at <slug>/<file> (default: the environment variable "
        "GRADTREE_DATA)",
    )
    parser.add_argument(
        "--cache", type=Path, metavar="FOLDER", help="where to keep downloaded data"
    )
    parser.add_argument(
        "--source",
        action="append",
        dest="sources",
        choices=SOURCES,
        help="use only sources of this kind (repeatable)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from datasets import paper_datasets, record, resolve
    from datasets.errors import UnknownDatasetError

    try:
        slugs = [resolve(name) for name in args.datasets] or list(paper_datasets())
    except UnknownDatasetError as problem:
        raise UserError(str(problem)) from None
    if args.mirror is not None and not args.mirror.is_dir():
        raise UserError(f"--mirror: there is no folder {args.mirror}")
    records = [record(slug) for slug in dict.fromkeys(slugs)]
    show = _show_live if sys.stdout.isatty() else _show_plain
    outcomes = show(records, _outcomes(args, records))
    print(summary(outcomes))
    return EXIT_DONE if all(outcome.verified for outcome in outcomes) else EXIT_INCOMPLETE


def _outcomes(args: argparse.Namespace, records: list[Record]) -> Iterator[Availability]:
    from datasets.availability import availability

    for entry in records:
        yield availability(entry.slug, args.mirror, args.cache, args.sources)


def cells(entry: Record, outcome: Availability | None) -> tuple[str, str, str, str, str, str]:
    """Dataset, rows, features, classes, source, state; ``None`` stands for not tried yet."""
    facts = (entry.name, f"{entry.n_rows}", f"{entry.n_features}", f"{entry.n_classes}")
    if outcome is None:
        return *facts, "", "…"
    return *facts, outcome.source or "none", "verified" if outcome.verified else "missing"


def summary(outcomes: list[Availability]) -> str:
    """What was amiss, what is missing with its remedy, and the count."""
    lines = []
    for outcome in outcomes:
        if outcome.verified:
            lines += [f"Note: {reason}" for reason in outcome.reasons]
        else:
            lines += [f"{outcome.record.name} is missing: {outcome.remedy}."]
            lines += [f"  tried {reason}" for reason in outcome.reasons]
    there = sum(outcome.verified for outcome in outcomes)
    lines.append(f"{there} of {len(outcomes)} datasets are available and verified.")
    if there < len(outcomes):
        lines.append("Everything else works without the missing ones.")
    return "\n".join(lines)


def _show_plain(records: list[Record], outcomes: Iterator[Availability]) -> list[Availability]:
    seen = []
    for outcome in outcomes:
        name, rows, features, classes, source, state = cells(outcome.record, outcome)
        shape = f"{rows:>6} rows {features:>3} features {classes:>2} classes"
        print(f"{name:<24} {shape}  {state:<9} {source}", flush=True)
        seen.append(outcome)
    return seen


def _show_live(records: list[Record], outcomes: Iterator[Availability]) -> list[Availability]:
    from rich.live import Live

    seen: list[Availability] = []
    with Live(refresh_per_second=8) as live:
        live.update(_table(_around(records, 0, live.console.height), seen), refresh=True)
        for outcome in outcomes:
            seen.append(outcome)
            live.update(_table(_around(records, len(seen), live.console.height), seen))
        live.update(_table(records, seen))
    return seen


def _around(records: list[Record], position: int, height: int) -> list[Record]:
    """As many records as the terminal shows, the one being tried among them."""
    fitting = max(height - 6, 3)
    first = min(max(position - fitting + 2, 0), max(len(records) - fitting, 0))
    return records[first : first + fitting]


def _table(records: list[Record], seen: list[Availability]) -> Table:
    from rich.table import Table

    outcomes = {outcome.record.slug: outcome for outcome in seen}
    table = Table(title="Datasets")
    for heading in ("dataset", "rows", "features", "classes", "source", "state"):
        right = heading in ("rows", "features", "classes")
        table.add_column(heading, justify="right" if right else "left")
    for entry in records:
        row = cells(entry, outcomes.get(entry.slug))
        style = {"verified": "green", "missing": "red"}.get(row[-1])
        table.add_row(*row[:-1], f"[{style}]{row[-1]}[/]" if style else row[-1])
    return table
