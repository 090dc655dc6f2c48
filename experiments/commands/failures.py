"""``failures``: what went wrong, why, and how to try it again."""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from experiments.commands import arguments, selection

if TYPE_CHECKING:
    from experiments.core.record import RunRecord

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
    parser.add_argument("--dataset", type=arguments.words, metavar="A,B", help="only these slugs")
    parser.add_argument("--method", type=arguments.words, metavar="A,B", help="only these methods")
    parser.add_argument(
        "--status",
        type=arguments.words,
        metavar="A,B",
        help=f"only jobs that ended as one of: {', '.join(SHOWN)}, skipped (default: all but "
        "skipped)",
    )
    parser.add_argument(
        "--log", action="store_true", help="also print the traceback and the end of the log"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.core.store import Store, resolve
    from experiments.runner.session import program

    arguments.require_store(args.store)
    selection.check("status", args.status, (*SHOWN, "skipped"))
    selection.check_recorded(args.store, args.dataset, args.method)
    wanted = args.status or SHOWN
    contents = Store(args.store).contents()
    arguments.tell_problems(contents.problems)
    failures = [
        record
        for record in resolve(contents.history).values()
        if record.status in wanted
        and (not args.dataset or record.dataset in args.dataset)
        and (not args.method or record.method in args.method)
    ]
    if not failures:
        print(f"No failures in {args.store}.")
        return 0
    groups: dict[tuple[str, ...], list[RunRecord]] = defaultdict(list)
    for record in failures:
        where = (record.status, record.protocol, record.dataset, record.method)
        groups[(*where, record.reason)].append(record)
    for key in sorted(groups):
        _show(key, groups[key], args.log)
    found: Counter[str] = Counter(record.status for record in failures)
    statuses = ",".join(status for status in SHOWN if found[status])
    if statuses:
        print(f"\nTry again: {program()} run --retry {statuses} --store {args.store}")
    return 1


def _show(key: tuple[str, ...], records: list[RunRecord], with_log: bool) -> None:
    status, protocol, dataset, method, reason = key
    trials = ", ".join(str(trial) for trial in sorted({record.trial for record in records}))
    print(f"{status:8} {protocol} {dataset} {method}, trial {trials}: {reason}")
    if not with_log:
        return
    for name, text in (("traceback", records[0].traceback), ("log", records[0].log_tail)):
        if text.strip():
            print(f"  {name} of trial {records[0].trial}:")
            print("".join(f"    {line}\n" for line in text.rstrip().splitlines()))
