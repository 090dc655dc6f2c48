"""``search``: find hyperparameters as the paper did, or better."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.commands import arguments

if TYPE_CHECKING:
    from experiments.search.study import Subject

TIME_LIMIT = 3600.0


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "search",
        help="search hyperparameters by cross-validation",
        description=(
            "Random search as in the paper: 300 trials, 3-fold stratified cross-validation, macro "
            "F1, on the split of data seed 42. The paper's grids are not published; the spaces are "
            "the values among its winners. Trial k depends on the seed, dataset, learner and k "
            "alone, so a search can be stopped, resumed and sharded at will. Winners of finished "
            "searches go to a table that `run --experiment tuned --params ours` reads. "
            "Exit status: 0 all searches are finished, 3 some are not."
        ),
    )
    parser.add_argument(
        "--protocol",
        type=arguments.words,
        default=["paper"],
        metavar="A,B",
        help="(default: paper)",
    )
    parser.add_argument(
        "--dataset", type=arguments.words, metavar="A,B", help="by name or slug (default: all)"
    )
    parser.add_argument(
        "--method",
        type=arguments.words,
        default=["gradtree", "dndt", "cart"],
        metavar="A,B",
        help="learners (default: gradtree,dndt,cart)",
    )
    parser.add_argument("--trials", type=int, default=300, metavar="N", help="(default: 300)")
    parser.add_argument(
        "--sampler",
        choices=("random", "tpe"),
        default="random",
        help="random as in the paper (default), or tree-structured Parzen estimators with "
        "median pruning after each fold",
    )
    parser.add_argument("--search-seed", type=int, default=42, metavar="S", help="(default: 42)")
    parser.add_argument("--shard", type=arguments.shard, metavar="I/N", help="do only share I of N")
    parser.add_argument("--plan", action="store_true", help="show the estimate and stop")
    parser.add_argument(
        "--winners",
        type=Path,
        metavar="FILE",
        help="the table to bring up to date (default: results/search/winners.csv)",
    )
    arguments.add_plugins(parser)
    arguments.add_store(parser)
    arguments.add_executor(arguments.add_how(parser))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.runner import plugins
    from experiments.runner.profiles import smallest_first
    from experiments.search.study import Subject

    plugins.use(args.plugin)
    datasets = smallest_first(arguments.dataset_slugs(args.dataset))
    subjects = [
        Subject(protocol, dataset, method)
        for protocol in args.protocol
        for dataset in datasets
        for method in args.method
        if can_search(method, dataset)
    ]
    interrupted = random(args, subjects) if args.sampler == "random" else tpe(args, subjects)
    return 0 if args.plan else report(args, subjects, interrupted)


def can_search(method: str, dataset: str) -> bool:
    """Leave out learners that would skip every trial."""
    from experiments.runner import plugins

    facts = plugins.facts(dataset)
    return plugins.learner(method).why_not(facts.n_features, len(facts.class_counts)) is None


def random(args: argparse.Namespace, subjects: list[Subject]) -> bool:
    """All candidates at once, in any order."""
    from experiments.core.store import Store
    from experiments.runner.candidates import search_jobs
    from experiments.runner.display import Progress
    from experiments.runner.plan import make_plan, render_jobs, shard
    from experiments.runner.queue import Queue
    from experiments.runner.session import drive, limits_of

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
    plan = make_plan(jobs, Store(args.store), limits, args.workers)
    print(render_jobs(plan), flush=True)
    if args.plan or not plan.pending:
        return False
    queue = Queue(plan.pending, give_up=False)
    progress = Progress(plan.pending, plan.estimates, args.workers)
    return drive(args, queue, progress, limits, "random search").interrupted


def tpe(args: argparse.Namespace, subjects: list[Subject]) -> bool:
    """Trial after trial in each study, all studies side by side."""
    from experiments.core.store import Store
    from experiments.runner.display import Progress
    from experiments.runner.session import drive, limits_of
    from experiments.search.study import Campaign, CampaignQueue

    if args.shard:
        index, count = args.shard
        subjects[:] = subjects[index - 1 :: count]
    campaigns = [Campaign(s, "tpe", args.trials, args.search_seed) for s in subjects]
    queue = CampaignQueue(campaigns, Store(args.store).latest())
    print(f"{len(campaigns)} studies of {args.trials} trials", flush=True)
    if args.plan:
        return False
    limits = limits_of(args, TIME_LIMIT)
    progress = Progress([], {}, args.workers)
    return drive(args, queue, progress, limits, "TPE search").interrupted


def report(args: argparse.Namespace, subjects: list[Subject], interrupted: bool) -> int:
    """Winners of what is finished, and how much is missing of the rest."""
    from experiments.core.store import Store
    from experiments.core.winners import TABLE, write_winners
    from experiments.runner.session import EXIT_DONE, EXIT_INCOMPLETE, resume_command
    from experiments.search.outcome import conclude_study, render_winner

    records = Store(args.store).latest()
    winners, unfinished = [], []
    for subject in subjects:
        winner, missing = conclude_study(
            subject, args.sampler, args.trials, args.search_seed, records
        )
        if winner is not None:
            winners.append(winner)
        else:
            unfinished.append((subject, missing))
    if winners:
        write_winners(winners, args.winners)
        print("", *map(render_winner, winners), sep="\n")
        print(f"\nWinners are in {args.winners or TABLE}.")
    for subject, missing in unfinished:
        where = f"{subject.protocol} {subject.dataset} {subject.method}"
        print(f"{where}: {missing} of {args.trials} trials missing")
    if interrupted or unfinished:
        print("Resume with:", resume_command())
        return EXIT_INCOMPLETE
    return EXIT_DONE
