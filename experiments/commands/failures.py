"""``failures``: what went wrong, why, and how to try it again."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from experiments.commands import arguments
from experiments.errors import DONE, FAILED, check_names

if TYPE_CHECKING:
    import pandas as pd

SHOWN = ("timeout", "memory", "crash", "error")


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "failures",
        help="list failed jobs with their reasons",
        description=(
            "List jobs that timed out, ran out of memory, crashed or raised an error, grouped by "
            "reason. Exit status: 0 there are none, 1 there are some."
        ),
    )
    arguments.add_store(parser)
    arguments.option(parser, "--dataset", "only these slugs", arguments.words, "A,B")
    arguments.option(parser, "--method", "only these methods", arguments.words, "A,B")
    text = f"only jobs that ended as one of: {', '.join(SHOWN)} (default: these), skipped"
    arguments.option(parser, "--status", text, arguments.words, "A,B")
    arguments.flag(parser, "--log", "also print the traceback and the end of the log")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.runs import archive
    from experiments.runs.store import Store
    from experiments.text import program

    arguments.require_store(args.store)
    check_names("status", args.status, (*SHOWN, "skipped"))
    store = Store(args.store)
    runs = store.frame("runs") if store.exists else archive.read_runs(args.store)
    check_names("dataset", args.dataset, runs["dataset"].unique())
    check_names("method", args.method, runs["method"].unique())
    for column, wanted in (
        ("status", args.status or SHOWN),
        ("dataset", args.dataset),
        ("method", args.method),
    ):
        runs = runs if wanted is None else runs[runs[column].isin(wanted)]
    if runs.empty:
        print(f"No failures in {args.store}.")
        return DONE
    for place, some in runs.groupby(["status", "protocol", "dataset", "method", "reason"]):
        _show(place, some, args.log)
    found = ",".join(status for status in SHOWN if (runs["status"] == status).any())
    if found:
        plugged = {str(one["file"]) for one in store.facts("learner").values() if "file" in one}
        with_plugins = "".join(f" --plugin {file}" for file in sorted(plugged))
        print(f"\nTry again: {program()} run --retry {found} --store {args.store}{with_plugins}")
    return FAILED


def _show(place: tuple[str, ...], runs: pd.DataFrame, with_log: bool) -> None:
    status, protocol, dataset, method, reason = place
    trials = ", ".join(map(str, sorted(runs["trial"].unique())))
    print(f"{status:8} {protocol} {dataset} {method}, trial {trials}: {reason}")
    first = runs.iloc[0]
    for name in ("traceback", "log_tail") if with_log else ():
        if first[name].strip():
            print(f"  {name.removesuffix('_tail')} of trial {first['trial']}:")
            print("".join(f"    {line}\n" for line in first[name].rstrip().splitlines()))
