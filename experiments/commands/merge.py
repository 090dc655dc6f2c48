"""``merge`` (or ``import``): bring the runs of other stores and archives into one store."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.commands import arguments
from experiments.errors import DONE, FAILED
from experiments.runs.store import LOCAL, PLANNED

if TYPE_CHECKING:
    from experiments.runs.store import Added, Store

SHOWN = 5
BATCH = 2000
"""Runs, with their predictions, that are added in one transaction."""


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "merge",
        help="copy the runs of other stores or archives into one store",
        description=(
            "Copy runs, predictions, plans and scores of searches from the stores of other "
            "machines or shards, or from an archive such as results/runs. If two have the same "
            "job, a success beats a failure, a later failure an earlier one, and the target's "
            "success stays, seconds included. If both succeeded with different scores, or an "
            "experiment asks for different jobs in the same place, that is a conflict: it is "
            "listed, and the target keeps its own. Nothing is deleted, and merging again changes "
            "nothing. Exit status: 0 done, 1 there are conflicts."
        ),
    )
    parser.add_argument(
        "sources", nargs="+", type=arguments.store_folder, metavar="STORE", help="to copy from"
    )
    text = "store to copy to (default: .runs)"
    arguments.option(parser, "--into", text, arguments.store_folder, "STORE", LOCAL)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.runs.store import Store

    for folder in args.sources:
        arguments.require_store(folder)
    conflicts = 0
    with closing(Store(args.into)) as target:
        for folder in args.sources:
            added, problems = merge(folder, target)
            print(f"{folder}: {added.new:,} new, {added.known:,} known")
            tell("no runs and left out", problems)
            tell("conflicts; what was there before is kept", added.conflicts)
            conflicts += len(added.conflicts)
        print(f"{args.into}: {len(target.statuses()):,} runs")
    return FAILED if conflicts else DONE


def tell(what: str, lines: list[str]) -> None:
    """Name the first few of some findings, and count them."""
    if lines:
        print(f"  {len(lines):,} {what}:")
        print("".join(f"    {line}\n" for line in lines[:SHOWN]), end="")


def merge(folder: Path, target: Store) -> tuple[Added, list[str]]:
    """Copy what a store or an archive has; what became of it, and rows that are no runs."""
    from experiments.runner.search_scores import folder_of, merge_scores
    from experiments.runs.schema import BadRunError, check
    from experiments.runs.store import Added

    total, problems = Added(), []
    batch: list[tuple[dict[str, Any], bytes | None]] = []

    def add() -> None:
        runs, packed = [run for run, _ in batch], {r["key"]: p for r, p in batch if p}
        done = target.add(runs, packed)
        total.new += done.new
        total.known += done.known
        total.conflicts += done.conflicts
        batch.clear()

    plan, facts, runs = _contents(folder)
    for row, packed in runs:
        try:
            batch.append((check(row), packed))
        except BadRunError as problem:
            problems.append(f"{row.get('key')}: {problem}")
        if len(batch) == BATCH:
            add()
    add()
    total.conflicts += _merge_plan(target, plan)
    for kind, some in facts.items():
        known = target.facts(kind)
        target.add_facts(kind, {name: one for name, one in some.items() if name not in known})
    if not (folder / "planned.parquet").is_file():
        merge_scores(folder_of(folder), folder_of(target.folder))
    return total, problems


Contents = tuple[
    list[tuple[Any, ...]], dict[str, dict[str, Any]], Iterator[tuple[dict[str, Any], bytes | None]]
]


def _contents(folder: Path) -> Contents:
    """Plan, facts, and every run with what it predicted."""
    from experiments.runs import archive, predictions
    from experiments.runs.schema import NAMES
    from experiments.runs.store import Store

    source = Store(folder)
    if source.exists:
        connection = source.connect()
        plan = [
            tuple(row) for row in connection.execute(f"SELECT {', '.join(PLANNED)} FROM planned")
        ]
        found = connection.execute("SELECT * FROM runs")
        runs = ({k: row[k] for k in NAMES} for row in found)
        facts = {kind: source.facts(kind) for kind in archive.KINDS}
        return plan, facts, ((run, source.predictions(run["key"])) for run in runs)
    planned = archive.read_plan(folder)[list(PLANNED)].astype(object)
    kept = predictions.read(folder)
    rows = archive.rows(archive.read_runs(folder))
    pairs = ((r, predictions.pack(kept[r["key"]]) if r["key"] in kept else None) for r in rows)
    return list(planned.itertuples(index=False, name=None)), archive.read_facts(folder), pairs


def _merge_plan(target: Store, plan: Iterable[tuple[Any, ...]]) -> list[str]:
    """Add the places that the target's plan lacks; those that it fills otherwise, which stay."""
    marks, same = ", ".join("?" * len(PLANNED)), ", ".join(PLANNED[:-1])
    with target.writing() as connection:
        connection.execute("CREATE TEMP TABLE theirs AS SELECT * FROM planned LIMIT 0")
        connection.executemany(f"INSERT INTO theirs VALUES ({marks})", plan)
        connection.execute("INSERT OR IGNORE INTO planned SELECT * FROM theirs")
        found = connection.execute(
            f"SELECT {same}, planned.key AS ours, theirs.key AS others FROM theirs "
            f"JOIN planned USING ({same}) WHERE planned.key != theirs.key"
        ).fetchall()
        connection.execute("DROP TABLE theirs")
    return [
        f"{row['protocol']} {row['experiment']} {row['dataset']} {row['method']} trial "
        f"{row['trial']}: asks for job {row['ours']} here, for {row['others']} there"
        for row in found
    ]
