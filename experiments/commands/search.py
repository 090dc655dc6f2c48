"""``search``: find hyperparameters as the paper did, or with any of Optuna's samplers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from experiments.commands import arguments
from experiments.commands.arguments import flag, group, limits_of, option, verb, whole, words
from experiments.errors import DONE, WORK_LEFT, NothingToDoError, check_names
from experiments.runner import registry
from experiments.runner.candidates import FOLDER, WINNERS, folder_of, space_of
from experiments.runner.display import Progress
from experiments.runner.experiments import METHODS, Subject, can_search, paper_datasets, unique
from experiments.runner.plan import search_seconds, seconds_of
from experiments.runner.session import SessionSummary, drive
from experiments.runs.store import Store
from experiments.text import duration, same_command, say


@verb(
    "search",
    option("--protocol", "protocols (default: paper)", words, "A,B", ["paper"]),
    option("--dataset", "datasets (default: the paper's 36)", words, "A,B"),
    option("--method", "methods (default: those that the paper tuned)", words, "A,B"),
    option("--trials", "candidates (default: 300)", whole(1), "N", 300),
    option("--sampler", "random (default) or one of Optuna's, e.g. tpe", default="random"),
    option("--search-seed", "seed of the search (default: 42)", whole(0), "S", 42),
    arguments.SHARD,
    flag("--plan", "only estimate how long it takes"),
    flag("--results", "continue from the committed scores in results/search and add to them"),
    arguments.STORE,
    group("how", *arguments.HOW),
)
def run(args: argparse.Namespace) -> int:
    """Search hyperparameters by cross-validation, as in the paper.

    Random search as in the paper: 300 candidates, 3-fold stratified cross-validation, macro F1, on
    the first split (data seed 42). The paper's grids are not published; the search spaces are the
    values among its winners. Candidate k depends only on the seed, dataset, learner and k, so a
    search can be stopped and resumed, and one with more candidates extends one with fewer. Every
    search is an Optuna study in <store>/search/studies.sqlite; scores and winners of finished ones
    go to CSV files beside it, and `run --experiment tuned --params ours` uses the winners. Exit
    status: 0 all searches are finished, 3 some are not.
    """
    check_names("protocol", args.protocol, registry.entries("protocol"))
    check_names("method", args.method, registry.learners())
    for method in args.method or ():
        space_of(method)
    pairs = [
        (Subject(protocol, dataset, method), args.trials)
        for protocol in args.protocol
        for dataset in arguments.datasets(args.dataset) or paper_datasets()
        for method in args.method or METHODS
        if can_search(method, dataset)
    ]
    index, count = args.shard or (1, 1)
    pairs = pairs[index - 1 :: count]
    if not pairs:
        raise NothingToDoError("nothing to do: no such method can be searched on such a dataset")
    seconds = sum(search_seconds(*pair) for pair in pairs)
    limits_of(args)
    say(
        f"{len(pairs):,} searches of {args.trials} candidates: about {duration(seconds)} of core "
        f"time, {duration(seconds / args.workers)} on {args.workers} idle cores, from the start."
    )
    return DONE if args.plan else search(args, pairs)[0]


def search(args: argparse.Namespace, pairs: Sequence[tuple[Subject, int]]) -> tuple[int, bool]:
    """Bring studies to an end and keep their scores; the exit status, and whether any was open."""
    from experiments.runner.study import SearchQueue, open_searches

    sampler, seed = getattr(args, "sampler", "random"), getattr(args, "search_seed", 42)
    to_results = args.verb == "search" and args.results
    folder: Path = FOLDER if to_results else folder_of(args.store)
    searches = open_searches(pairs, seed, sampler, args.store, folder)
    queue, summary = SearchQueue(searches, Store(args.store)), SessionSummary()
    worked = bool(queue)
    if worked:
        limits, jobs = limits_of(args), unique(job for one in searches for job in one.jobs())
        seconds = {job.key: 2 * seconds_of(job.method, job.dataset) for job in jobs}
        progress = Progress(jobs, seconds, args.workers)
        progress.jobs = progress.jobs or len(queue)
        summary = drive(args, queue, progress, limits, f"search ({sampler})")
    kept = [(one, one.keep(folder)) for one in searches]
    say("\n".join(["", *(line for _, line in kept)]))
    if (folder / WINNERS).is_file():
        say(f"\nWinners are in {folder / WINNERS}.")
    if summary.interrupted or any(one.done() < one.trials for one, _ in kept):
        why = f": {summary.problem}" if summary.problem else ""
        say(f"Stopped{why}. Resume with: {same_command()}")
        return WORK_LEFT, worked
    return DONE, worked
