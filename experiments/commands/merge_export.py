"""``merge`` and ``export``: runs into a store, and out of one."""

import argparse
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.analysis.runs import Source, load
from experiments.commands.arguments import COMMITTED, STORE, flag, option, verb
from experiments.errors import DONE, FAILED, UserError
from experiments.runner import registry
from experiments.runner.candidates import folder_of, merge_scores
from experiments.runner.plan import unasked
from experiments.runner.registry import learner_facts
from experiments.runs import archive
from experiments.runs.schema import BY_NAME, NAMES, BadRunError, check
from experiments.runs.store import LOCAL, PLANNED, Added, Store

SHOWN = 5
ADD = "add to this archive (results/runs)"


@verb(
    "merge",
    option("sources", "to copy from", Path, "STORE", nargs="+"),
    option("--into", "store to copy to (default: .runs)", Path, "STORE", LOCAL),
)
def run(args: argparse.Namespace) -> int:
    """Copy the runs of other stores or archives into one store.

    Copy runs, predictions, plans and scores of searches from the stores of other machines or
    shards, or from an archive such as results/runs. If two have the same job, a success beats a
    failure, a later failure an earlier one, and the target's success stays, seconds included. If
    both succeeded with different scores, or an experiment asks for different jobs in the same
    place, that is a conflict: it is listed, and the target keeps its own. So is a job that one of
    the suite's own experiments does not ask for. Nothing is deleted, and merging again changes
    nothing. Exit status: 0 done, 1 there are conflicts.
    """
    sources, conflicts = [Source(folder) for folder in args.sources], 0
    with closing(Store(args.into)) as target:
        for source in sources:
            added, problems = merge(source, target)
            print(f"{source.folder}: {added.new:,} new, {added.known:,} known")
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


def merge(source: Source, target: Store, trusted: bool = False) -> tuple[Added, list[str]]:
    """Copy what a store or an archive has; what became of it, and rows that are no runs. The plan
    and the names of a ``trusted`` one are not compared with those of the suite.
    """
    problems, runs = list[str](), list[dict[str, Any]]()
    # A store's as they are: ``check`` tells of what is no run.
    stored = source.store and source.store.connect().execute("SELECT * FROM runs")
    for row in map(dict, stored or archive.rows(source.runs)):
        try:
            runs.append(check(row))
        except BadRunError as problem:
            problems.append(f"{row.get('key')}: {problem}")
    kept = {run["key"]: _packed(source, run["key"]) for run in runs}
    added = target.add(runs, {key: packed for key, packed in kept.items() if packed})
    plan = source.plan
    forged = plan.iloc[:0] if trusted else unasked(plan, source.folder)
    added.conflicts += _merge_plan(target, plan.drop(forged.index), forged)
    for kind, some in source.facts.items():
        known, ours = target.facts(kind), {} if trusted else archive.read_facts()[kind]
        new = {name: ours.get(name, one) for name, one in some.items() if name not in known}
        target.add_facts(kind, new)
    if source.store:
        merge_scores(folder_of(source.folder), folder_of(target.folder))
    return added, problems


def _packed(source: Source, key: str) -> bytes | None:
    """What a run of a store or an archive predicted, as a store keeps it."""
    if source.store:
        return source.store.predictions(key)
    kept = source.predicted(key)
    return archive.pack(kept) if kept else None


def _merge_plan(target: Store, plan: pd.DataFrame, forged: pd.DataFrame) -> list[str]:
    """Add the places that the target's plan lacks. Tell those that it fills otherwise, which stay,
    and those that are ``forged``: the catalogue asks for another job.
    """
    theirs, ours = plan[list(PLANNED)].astype(object), target.frame("planned").astype(object)
    both = theirs.merge(ours, "left", list(PLANNED[:-1]), suffixes=("", "_here"))
    here = both["key_here"]
    target.plan(both[here.isna()].itertuples())
    odd = pd.concat([both[here.notna() & (here != both["key"])], forged.assign(key_here="")])
    return [
        f"{row.protocol} {row.experiment} {row.dataset} {row.method} trial {row.trial}: asks "
        f"{f'for {row.key_here}' if row.key_here else 'otherwise'} here, for {row.key} there"
        for row in odd.itertuples()
    ]


@verb(
    "export",
    STORE,
    option("output", "such as runs.parquet or runs.csv", Path, "FILE", nargs="?"),
    option("--results", ADD, Path, "ARCHIVE", nargs="?", const=COMMITTED),
    flag("--costs", "let equal runs of the store renew its seconds, those measured alone excepted"),
)
def export(args: argparse.Namespace) -> int:
    """Write the runs as Parquet or CSV.

    Write one row per experiment and run, with every column of the table of runs, as Parquet or CSV.
    With --results instead, add the runs of the store to the committed archive in results/runs:
    conflicts are listed, and what was committed stays, but for runs that a later version of their
    learner supersedes and, with --costs, for seconds, memory and origin. Predictions are kept of
    the headline and of the seeds of `same-story`. Exit status: 0 done, 1 there are conflicts.
    """
    if args.results is not None:
        return write_archive(args.store, args.results, args.costs)
    if args.output is None or args.output.suffix not in (".parquet", ".csv"):
        raise UserError("name a file to write, such as runs.parquet or runs.csv")
    folder = COMMITTED if args.store == LOCAL and not LOCAL.is_dir() else args.store
    frame = load(folder).frame
    args.output.parent.mkdir(parents=True, exist_ok=True)
    write = frame.to_csv if args.output.suffix == ".csv" else frame.to_parquet
    write(args.output, index=False)
    ran = int((frame["status"] != "").sum())
    print(f"{args.output}: {len(frame):,} rows, {ran:,} of them runs of {folder}")
    return DONE


def write_archive(store: Path, archive_folder: Path, costs: bool = False) -> int:
    """Add the runs of a store to an archive, through a store that is made for it."""
    superseded = 0
    with tempfile.TemporaryDirectory() as folder, closing(Store(folder)) as both:
        if (archive_folder / archive.PLAN).is_file():
            merge(Source(archive_folder), both, trusted=True)
            superseded = _superseded(both, store)
        added, problems = merge(Source(store), both)
        runs, plan = both.frame("runs"), both.frame("planned")
        if costs:
            runs = _renewed(runs, Store(store).frame("runs"))
        facts = {kind: both.facts(kind) for kind in archive.KINDS}
        archive.write(archive_folder, runs, plan, facts)
        wanted = set(plan.loc[plan["experiment"].isin(archive.PREDICTED_OF), "key"])
        wanted |= set(archive.read_predictions(archive_folder))
        kept = runs[runs["key"].isin(wanted)]
        archive.write_predictions(archive_folder, archive.kept_predictions(both, kept))
    print(f"{archive_folder}: {added.new:,} new runs, {added.known:,} known, {len(runs):,} in all")
    print(f"  {superseded:,} runs gave way to those of a later version of their learner")
    tell("no runs and left out", problems)
    tell("conflicts; what was committed stays", added.conflicts)
    return FAILED if added.conflicts else DONE


def _superseded(both: Store, store: Path) -> int:
    """Forget what the catalogue asks for no more where a store has what it does; how many runs."""
    places = both.frame("planned").merge(Source(store).plan, "inner", list(PLANNED[:-1]))
    other = places[places["key_x"] != places["key_y"]].rename(columns={"key_y": "key"})
    asked = other.drop(unasked(other, store).index).drop(columns="key")
    stale = unasked(asked.rename(columns={"key_x": "key"})[list(PLANNED)], store)
    with both.writing() as connection:
        same = " AND ".join(f"{name} = ?" for name in PLANNED)
        rows = stale.astype(object).itertuples(index=False, name=None)
        connection.executemany(f"DELETE FROM planned WHERE {same}", rows)
    gone = set(stale["key"]) & both.statuses().keys() - set(both.frame("planned")["key"])
    both.forget(gone)
    known = {*Source(store).plan["method"]} & registry.entries("learner").keys()
    both.add_facts("learner", {one: learner_facts(one) for one in known})
    return len(gone)


def _renewed(runs: pd.DataFrame, by: pd.DataFrame) -> pd.DataFrame:
    """Runs with the costs and the origin of equal ones that were not measured alone either."""
    same = [name for name in NAMES if BY_NAME[name].kind in ("identity", "score")]
    both = runs[same].merge(by.query("status == 'ok' and measured == 'shared'")[same])["key"]
    names = [name for name in NAMES if BY_NAME[name].kind in ("cost", "origin")]
    renewed = runs.set_index("key")
    renewed.loc[both, names] = by.set_index("key").loc[both, names]
    return renewed.reset_index()[list(NAMES)]
