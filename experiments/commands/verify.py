"""``verify``: is everything that is said of the runs so, and are they the committed ones?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.commands.tables import profile_table
from experiments.errors import DONE, FAILED
from experiments.runs.archive import COMMITTED

if TYPE_CHECKING:
    import pandas as pd

    from experiments.analysis.runs import Runs
    from experiments.output.checks import Check


PLACE = ("dataset", "method", "trial", "seed", "repeat", "key")
"""Of a run in its experiment, with the job that stands there."""


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "verify",
        help="recompute everything derived and compare it; compare your fits with ours",
        description=(
            "Without --store: check every committed run against the schema and the catalogue, make "
            "verdicts, claims, tables, README blocks, figures and the report anew, and compare "
            "them with the committed files. With --store: compare the fits of a store with the "
            "committed ones, one by one, so that even a run of one trial can be checked. Exit "
            "status: 0 all is equal, 1 something differs or is missing."
        ),
    )
    parser.add_argument(
        "--store",
        type=Path,
        default=COMMITTED,
        metavar="FOLDER",
        help="your own runs (default: the committed ones)",
    )
    parser.add_argument(
        "--deep", action="store_true", help="also recompute scores from stored predictions"
    )
    parser.set_defaults(run=run)


def catalogue(runs: Runs) -> Check:
    """Whether the catalogue asks today for the keys of the whole plan, run or not."""
    from experiments.output.checks import Check

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
    asked = jobs_of(
        "tuned" if ours else experiment,
        protocol,
        dict.fromkeys(part["dataset"]),
        list(dict.fromkeys(part["method"])),
        sorted(set(part["trial"])),
        "ours" if ours else None,
        runs.store,
    )
    return {tuple(getattr(job, name) for name in PLACE) for job in asked}


def run(args: argparse.Namespace) -> int:
    from experiments.analysis.answers import answers
    from experiments.analysis.runs import load
    from experiments.output import checks

    runs = load(args.store)
    done = [checks.rows(args.store)]
    if args.store.resolve() == COMMITTED.resolve():
        from experiments.analysis.printed import printed
        from experiments.output.report.page import render

        found = answers(runs)
        for answer in found[:3]:
            print(f"{answer.title} {' '.join(answer.sentences[:1])}\n")
        done.append(catalogue(runs))
        done.append(checks.tables(found, runs))
        done.append(checks.readmes(found, profile_table()))
        done.append(checks.figures(found))
        done.append(checks.report(render(runs, found, printed())))
    else:
        done.append(checks.fits(args.store))
    if args.deep:
        done.append(checks.scores(args.store))
    for each in done:
        print("\n".join(each.lines()))
    return FAILED if any(each.wrong for each in done) else DONE
