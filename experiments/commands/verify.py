"""``verify``: is everything that is said of the runs so, and are they the committed ones?"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from experiments.analysis.answers import answers
from experiments.analysis.runs import Runs, load
from experiments.commands.arguments import COMMITTED, flag, option, verb
from experiments.commands.tables import profile_table
from experiments.errors import DONE, FAILED
from experiments.output import checks
from experiments.output.checks import Check

PLACE = ("dataset", "method", "trial", "seed", "repeat", "key")
"""Of a run in its experiment, with the job that stands there."""


def catalogue(runs: Runs) -> Check:
    """Whether the catalogue asks today for the keys of the whole plan, run or not."""
    found = Check("Plan against the catalogue")
    try:
        for (protocol, experiment), part in runs.places.items():
            found.compared += len(part)
            asked = _catalogued(runs, protocol, experiment, part)
            stale = part[[place not in asked for place in zip(*map(part.get, PLACE), strict=True)]]
            for method, some in stale.groupby("method", sort=False):
                found.wrong.append(
                    f"{protocol} {experiment}: {len(some):,} jobs of {method} have other keys in "
                    "the catalogue: a version, a parameter or the data has changed"
                )
    except ImportError as problem:
        found.skipped = f"the registry cannot be imported here ({problem})"
    return found


def _catalogued(
    runs: Runs, protocol: str, experiment: str, part: pd.DataFrame
) -> set[tuple[object, ...]]:
    """Places and keys that the catalogue gives for these rows; all of them if of a plug-in."""
    from experiments.runner.experiments import EXPERIMENTS, SEARCHED, jobs_of

    ours = experiment == SEARCHED
    if experiment not in EXPERIMENTS and not ours:
        return set(zip(*map(part.get, PLACE), strict=True))
    datasets, methods, trials = (part[n].unique().tolist() for n in ("dataset", "method", "trial"))
    place = ("tuned" if ours else experiment, protocol, datasets, methods, trials)
    asked = jobs_of(*place, "ours" if ours else None, runs.store)
    return {tuple(getattr(job, name) for name in PLACE) for job in asked}


@verb(
    "verify",
    option("--store", "your own runs (default: the committed ones)", Path, "FOLDER", COMMITTED),
    flag("--deep", "also recompute scores from stored predictions"),
)
def run(args: argparse.Namespace) -> int:
    """Recompute everything derived and compare it; compare your fits with ours.

    Without --store: check every committed run against the schema and the catalogue, make verdicts,
    claims, tables, README blocks, figures and the report anew, and compare them with the committed
    files. With --store: compare the fits of a store with the committed ones, one by one, so that
    even a run of one trial can be checked. Exit status: 0 all is equal, 1 something differs or is
    missing.
    """
    runs = load(args.store)
    done = [checks.rows(args.store)]
    if args.store.resolve() == COMMITTED.resolve():
        from experiments.output.report import render

        found = answers(runs)
        for answer in found[:3]:
            print(f"{answer.title} {' '.join(answer.sentences[:1])}\n")
        done.append(catalogue(runs))
        done.append(checks.tables(found, runs))
        done.append(checks.readmes(found, profile_table()))
        done.append(checks.figures(found))
        done.append(checks.written("Report", {"report.html": render(runs, found)}))
    else:
        done.append(checks.fits(args.store))
    if args.deep:
        done.append(checks.scores(args.store))
    for each in done:
        print("\n".join(each.lines()))
    return FAILED if any(each.wrong for each in done) else DONE
