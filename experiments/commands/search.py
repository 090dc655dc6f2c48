"""``search``: find hyperparameters as the paper did, or better."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.commands import arguments, selection
from experiments.core.checks import EXIT_DONE, EXIT_INCOMPLETE, NothingToDoError, UserError

if TYPE_CHECKING:
    from experiments.core.searched import Subject

TIME_LIMIT = 3600.0


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "search",
        help="search hyperparameters by cross-validation, as in the paper",
        description=(
            "Random search as in the paper: 300 trials, 3-fold stratified cross-validation, macro "
            "F1, on the first split (data seed 42). The paper's grids are not published; the "
            "search spaces are the values among its winners. Trial k depends only on the seed, "
            "dataset, learner and k, so a search can be stopped, resumed and sharded, and a search "
            "with more trials extends one with fewer. Scores and winners go to CSV files in the "
            "store's folder search; `run --experiment tuned --params ours` uses the winners. "
            "Exit status: 0 all searches are finished, 3 some are not."
        ),
    )
    parser.add_argument(
        "--protocol",
        type=arguments.words,
        default=["paper"],
        metavar="A,B",
        help="protocols (default: paper)",
    )
    parser.add_argument(
        "--dataset",
        type=arguments.words,
        metavar="A,B",
        help="datasets by name or slug (default: the paper's 36)",
    )
    parser.add_argument(
        "--method",
        type=arguments.words,
        default=["gradtree", "dndt", "genetictree", "cart"],
        metavar="A,B",
        help="methods (default: gradtree,dndt,genetictree,cart)",
    )
    parser.add_argument(
        "--trials",
        type=arguments.whole(1),
        default=300,
        metavar="N",
        help="candidates (default: 300)",
    )
    parser.add_argument(
        "--sampler",
        choices=("random", "tpe"),
        default="random",
        help="random as in the paper (default), or tree-structured Parzen estimators with "
        "median pruning after each fold",
    )
    parser.add_argument(
        "--search-seed",
        type=arguments.whole(0),
        default=42,
        metavar="S",
        help="seed of the search (default: 42)",
    )
    parser.add_argument(
        "--shard", type=arguments.shard, metavar="I/N", help="run only share I of N"
    )
    parser.add_argument("--plan", action="store_true", help="only estimate how long it takes")
    parser.add_argument(
        "--results",
        action="store_true",
        help="continue from the committed scores in results/search and add to them "
        "(default: the scores in the store's folder search)",
    )
    arguments.add_plugins(parser)
    arguments.add_store(parser)
    arguments.add_executor(arguments.add_how(parser))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.core.files import locked
    from experiments.core.searched import FOLDER, Subject
    from experiments.runner import plugins
    from experiments.runner.profiles import smallest_first

    plugins.use(args.plugin)
    selection.check("protocol", args.protocol, plugins.protocols())
    selection.check("method", args.method, plugins.method_slugs())
    for method in args.method:
        if not plugins.learner(method).space:
            searchable = [s for s in plugins.method_slugs() if plugins.learner(s).space]
            raise UserError(f"{method} declares no search space; these do: {', '.join(searchable)}")
    subjects = [
        Subject(protocol, dataset, method)
        for protocol in args.protocol
        for dataset in smallest_first(selection.dataset_slugs(args.dataset))
        for method in args.method
        if can_search(method, dataset)
    ]
    if not subjects:
        raise NothingToDoError(
            "nothing to do: none of these methods can be searched on these datasets"
        )
    scores = FOLDER if args.results else args.store / "search"
    if args.plan:
        searched(args, subjects, scores)
        return EXIT_DONE
    with locked(args.store):
        interrupted = searched(args, subjects, scores)
        return report(args, subjects, scores, interrupted)


def can_search(method: str, dataset: str) -> bool:
    """Leave out learners that would skip every trial."""
    from experiments.runner import plugins

    facts = plugins.facts(dataset)
    return plugins.learner(method).why_not(facts.n_features, len(facts.class_counts)) is None


def searched(args: argparse.Namespace, subjects: list[Subject], scores: Path) -> bool:
    """Do what is missing; whether someone said stop."""
    return random(args, subjects, scores) if args.sampler == "random" else tpe(args, subjects)


def random(args: argparse.Namespace, subjects: list[Subject], scores: Path) -> bool:
    """All candidates at once, in any order."""
    from experiments.core.searched import FOLDER
    from experiments.core.store import Store
    from experiments.core.text import say
    from experiments.runner.candidates import search_jobs
    from experiments.runner.plan import make_plan, render_jobs, shard
    from experiments.runner.progress import Progress
    from experiments.runner.queue import Queue
    from experiments.runner.session import drive, limits_of
    from experiments.search.outcome import known_candidates, timed_candidates

    jobs = [
        job
        for s in subjects
        for job in search_jobs(
            s.protocol, [s.dataset], [s.method], range(args.trials), args.search_seed
        )
    ]
    jobs = list({job.key: job for job in jobs}.values())
    if args.shard:
        jobs = shard(jobs, *args.shard)
    limits = limits_of(args, TIME_LIMIT)
    plan = make_plan(
        jobs,
        Store(args.store),
        limits,
        args.workers,
        done=known_candidates(scores, subjects, args.search_seed),
        hints=timed_candidates(FOLDER),
    )
    say(render_jobs(plan))
    if args.plan or not plan.pending:
        return False
    queue = Queue(plan.pending, give_up=False)
    progress = Progress(plan.pending, plan.estimates, args.workers)
    return drive(args, queue, progress, limits, "random search").interrupted


def tpe(args: argparse.Namespace, subjects: list[Subject]) -> bool:
    """Trial after trial in each study, all studies side by side."""
    from experiments.core.store import Store
    from experiments.core.text import say
    from experiments.runner.progress import Progress
    from experiments.runner.session import drive, limits_of
    from experiments.search.study import Campaign, CampaignQueue

    if args.shard:
        index, count = args.shard
        subjects[:] = subjects[index - 1 :: count]
    campaigns = [Campaign(s, args.trials, args.search_seed) for s in subjects]
    queue = CampaignQueue(campaigns, Store(args.store).latest())
    say(f"{len(campaigns)} studies of {args.trials} trials")
    if args.plan:
        return False
    limits = limits_of(args, TIME_LIMIT)
    progress = Progress([], {}, args.workers)
    return drive(args, queue, progress, limits, "TPE search").interrupted


def report(
    args: argparse.Namespace, subjects: list[Subject], scores: Path, interrupted: bool
) -> int:
    """Keep scores and winners, and say how much is missing of the rest."""
    from experiments.core.searched import WINNERS, write_winners
    from experiments.core.store import Store
    from experiments.core.text import say
    from experiments.runner.session import resume_command
    from experiments.search.outcome import keep_scores, known_candidates, render_winner, winner_of

    known = known_candidates(scores, subjects, args.search_seed)
    records = {**known, **Store(args.store).latest()}
    if args.sampler == "random":
        keep_scores(scores, subjects, args.trials, args.search_seed, records)
    winners, unfinished, without = [], [], []
    for subject in subjects:
        winner, missing = winner_of(subject, args.sampler, args.trials, args.search_seed, records)
        if winner is not None:
            winners.append(winner)
        elif missing:
            unfinished.append((subject, missing))
        else:
            without.append(subject)
    if winners:
        write_winners(winners, scores / WINNERS)
        say("\n".join(["", *map(render_winner, winners)]))
        say(f"\nWinners are in {scores / WINNERS}.")
    for subject in without:
        say(f"{subject}: no winner, since no candidate could be fitted and scored")
    for subject, missing in unfinished:
        say(f"{subject}: {missing} of {args.trials} trials missing")
    if interrupted or unfinished:
        say(f"Resume with: {resume_command()}")
        return EXIT_INCOMPLETE
    return EXIT_DONE
