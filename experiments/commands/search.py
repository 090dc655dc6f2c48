"""``search``: find hyperparameters as the paper did, or with any of Optuna's samplers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.commands import arguments
from experiments.errors import DONE, WORK_LEFT, NothingToDoError, check_names

if TYPE_CHECKING:
    from experiments.runner.experiments import Subject

TIME_LIMIT = 3600.0


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "search",
        help="search hyperparameters by cross-validation, as in the paper",
        description=(
            "Random search as in the paper: 300 candidates, 3-fold stratified cross-validation, "
            "macro F1, on the first split (data seed 42). The paper's grids are not published; the "
            "search spaces are the values among its winners. Candidate k depends only on the seed, "
            "dataset, learner and k, so a search can be stopped and resumed, and one with more "
            "candidates extends one with fewer. Every search is an Optuna study in "
            "<store>/search/studies.sqlite; scores and winners of finished ones go to CSV files "
            "beside it, and `run --experiment tuned --params ours` uses the winners. "
            "Exit status: 0 all searches are finished, 3 some are not."
        ),
    )
    for name, default in (("protocol", "paper"), ("dataset", ""), ("method", "")):
        usual = (
            default or {"dataset": "the paper's 36", "method": "those that the paper tuned"}[name]
        )
        given = [default] if default else None
        arguments.option(
            parser, f"--{name}", f"{name}s (default: {usual})", arguments.words, "A,B", given
        )
    arguments.option(parser, "--trials", "candidates (default: 300)", arguments.whole(1), "N", 300)
    text = "random: candidates by number, as committed (default); or one of Optuna's, e.g. tpe"
    arguments.option(parser, "--sampler", text, default="random")
    text = "seed of the search (default: 42)"
    arguments.option(parser, "--search-seed", text, arguments.whole(0), "S", 42)
    arguments.option(parser, "--shard", "only share I of N of the searches", arguments.shard, "I/N")
    arguments.flag(parser, "--plan", "only estimate how long it takes")
    text = "continue from the committed scores in results/search and add to them"
    arguments.flag(parser, "--results", text)
    arguments.add_store(parser)
    arguments.add_executor(arguments.add_how(parser))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.runner import registry
    from experiments.runner.candidates import space_of
    from experiments.runner.experiments import METHODS, Subject, can_search, paper_datasets
    from experiments.runner.plan import search_seconds
    from experiments.text import duration, say

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
    if args.shard:
        index, count = args.shard
        pairs = pairs[index - 1 :: count]
    if not pairs:
        raise NothingToDoError("nothing to do: no such method can be searched on such a dataset")
    seconds = sum(search_seconds(*pair) for pair in pairs)
    workers = arguments.workers_of(args)
    say(
        f"{len(pairs):,} searches of {args.trials} candidates: about {duration(seconds)} of core "
        f"time, {duration(seconds / workers)} on {workers} idle cores, from the start."
    )
    return DONE if args.plan else search(args, pairs)[0]


def search(args: argparse.Namespace, pairs: Sequence[tuple[Subject, int]]) -> tuple[int, bool]:
    """Bring studies to an end and keep their scores; the exit status, and whether any was open."""
    from experiments.runner.display import Progress
    from experiments.runner.experiments import unique
    from experiments.runner.plan import seconds_of
    from experiments.runner.search_scores import FOLDER, WINNERS, folder_of
    from experiments.runner.session import SessionSummary, drive
    from experiments.runner.study import SearchQueue, open_searches
    from experiments.runs.store import Store
    from experiments.text import same_command, say

    sampler, seed = getattr(args, "sampler", "random"), getattr(args, "search_seed", 42)
    to_results = getattr(args, "verb", "") == "search" and args.results
    folder: Path = FOLDER if to_results else folder_of(args.store)
    searches = open_searches(pairs, seed, sampler, args.store, folder)
    limits, store = arguments.limits_of(args, TIME_LIMIT), Store(args.store)
    queue, summary = SearchQueue(searches, store), SessionSummary()
    worked = bool(queue)
    if worked:
        jobs = unique(job for one in searches for job in one.jobs())
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
