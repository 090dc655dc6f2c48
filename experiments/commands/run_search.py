"""``run`` does the jobs that are not done yet, then tables, report and what they come to;
``search`` finds hyperparameters as the paper did, or with any of Optuna's samplers.
"""

import argparse
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

from experiments.analysis.runs import load
from experiments.commands import arguments
from experiments.commands.arguments import HOW, flag, group, limits_of, option, verb, words
from experiments.errors import DONE, FAILED, WORK_LEFT, NothingToDoError, check_names
from experiments.runner import experiments as catalogue
from experiments.runner import plan as plans
from experiments.runner import registry
from experiments.runner.candidates import FOLDER, WINNERS, folder_of, search_seconds, space_of
from experiments.runner.experiments import METHODS, Profile, Selection, Subject, jobs_in, unique
from experiments.runner.plan import Plan, make_plan, shard
from experiments.runner.session import SessionSummary, drive, sum_up
from experiments.runs.schema import Job
from experiments.runs.store import Store
from experiments.text import duration, program, same_command, say

NEXT = {"smoke": "quick", "quick": "paper", "paper": "extended"}
"""Profiles, each with the next larger one."""
Parts = Sequence[tuple[Profile, Sequence[Job]]]
"""Profiles, each with the jobs that it asks for."""
Searches = Sequence[tuple[Subject, int]]
REFIT = option("--refit", "make the runs of these methods anew", words, "A,B", [])


@verb(
    "run",
    arguments.SELECTION,
    REFIT,
    arguments.SHARD,
    arguments.STORE,
    group("how", *HOW, flag("--refresh", "then write tables and report to the store's folder")),
)
def run(args: argparse.Namespace) -> int:
    """Run the jobs that are not done yet.

    Run the selected jobs and store their runs. Finished jobs are not repeated. Jobs that ended in
    an error or crash are tried again; jobs that exceeded a limit are tried again with a higher
    limit or with --refit. Ctrl-C stops cleanly; the same command resumes. Exit status: 0 every job
    has ended (ok, skipped, or stopped at its limit), 1 some ended in an error or crash, 3 some are
    still to be run, 4 no job is selected.
    """
    profile, chosen, parts, searches = asked(args)
    store, every = Store(args.store), [job for _, jobs in parts for job in jobs]
    note_plan(store, every, args.refit)
    mine = {job.key: job for job in shard(unique(every), *args.shard)}
    index, count = args.shard
    searches = searches[index - 1 :: count]
    if not mine and not searches:
        raise NothingToDoError(f"nothing to do: share {index} of {count} is empty")
    plan = plan_of(args, parts, mine)
    tell_plan(args, profile, plan, searches)
    offered = registry.from_plugins("dataset")
    if offered and not set(offered) & set(chosen.datasets or ()):
        say(f"The plug-in's datasets run when they are named: --dataset {','.join(offered)}")
    summary, status, searched = SessionSummary(), DONE, False
    for leaf, jobs in parts:
        if searched:  # what it found may be what this part runs
            jobs = jobs_in(leaf, chosen)
            note_plan(store, jobs)
            mine |= {job.key: job for job in shard(unique(jobs), *args.shard)}
        summary = drive(args, plan_of(args, [(leaf, jobs)], mine))
        wanted = [pair for pair in catalogue.searches_in(leaf, chosen) if pair in searches]
        if wanted and not summary.interrupted:
            ended, worked = search(args, wanted, folder_of(args.store))
            status, searched = max(status, ended), searched or worked
        if summary.interrupted or status == WORK_LEFT:
            break
    limits = limits_of(args, min(leaf.time_limit for leaf, _ in parts))
    status = max(status, sum_up(list(mine.values()), store, limits, summary))
    if args.refresh and not summary.interrupted:
        status = max(status, refresh(args.store))
    if status != WORK_LEFT and profile.slug in NEXT:
        say(f"Next: {program()} plan --profile {NEXT[profile.slug]} --store {args.store}")
    return status


def asked(args: argparse.Namespace) -> tuple[Profile, Selection, Parts, Searches]:
    """The profile, what is chosen of it, and the jobs and searches that this comes to."""
    profile, chosen = arguments.selected(args)
    parts = [(leaf, jobs_in(leaf, chosen)) for leaf in profile.leaves()]
    searches = catalogue.searches_in(profile, chosen)
    every = [job for _, jobs in parts for job in jobs]
    catalogue.check_selected(profile, chosen, every, searches)
    return profile, chosen, parts, searches


def plan_of(args: argparse.Namespace, parts: Parts, among: Mapping[str, Job] | None = None) -> Plan:
    """The plans of all parts of a profile, each by its own time limit, as one."""
    statuses = Store(args.store).statuses()
    found = []
    for leaf, jobs in parts:
        mine = [job for job in jobs if among is None or job.key in among]
        found.append(make_plan(mine, statuses, limits_of(args, leaf.time_limit)))
    return plans.together(found)


def tell_plan(args: argparse.Namespace, profile: Profile, plan: Plan, searches: Searches) -> None:
    spent = [search_seconds(*pair) for pair in searches]
    say(f"Profile {profile.slug}: {profile.about}.\n\n{plans.render(plan, args.workers, spent)}")


def run_jobs(args: argparse.Namespace, jobs: Sequence[Job]) -> tuple[int, bool]:
    """Plan and do some jobs with the usual limit; the exit status, and whether none was stopped."""
    store = Store(args.store)
    note_plan(store, jobs, args.refit)
    plan = make_plan(jobs, store.statuses(), limits_of(args))
    say(plans.render(plan, args.workers))
    summary = drive(args, plan)
    return sum_up(plan.jobs, store, plan.limits, summary), not summary.interrupted


def note_plan(store: Store, jobs: Sequence[Job], refit: Sequence[str] = ()) -> None:
    """Let a store know what it is asked for, and the names and shapes that tables print. The runs
    of methods to ``refit`` are forgotten. Where the code of a plug-in's learner has changed under
    its version since its stored runs, that is said, and what was known of it stays.
    """
    check_names("method to refit", refit, dict.fromkeys(job.method for job in jobs))
    store.forget([job.key for job in jobs if job.method in refit])
    store.plan(jobs)
    datasets = dict.fromkeys(job.dataset for job in jobs)
    store.add_facts("dataset", {slug: registry.dataset_facts(slug) for slug in datasets})
    known, runs, facts = store.facts("learner"), store.statuses(), {}
    good = {key for key, run in runs.items() if run["status"] == "ok"}
    for slug in dict.fromkeys(job.method for job in jobs):
        facts[slug] = told = registry.learner_facts(slug)
        before = {"version": None, "source": None, **known.get(slug, {})}
        done = {job.key for job in jobs if job.method == slug and "source" in told} & good
        if done and before["version"] == told["version"] and before["source"] != told["source"]:
            del facts[slug]
            say(
                f"{told['file']} has changed since {len(done):,} stored runs of {slug} version "
                f"{told['version']}, which are used as they are.\nIf that changed the learner, "
                f"raise its version, or: {same_command()} --refit {slug}"
            )
    store.add_facts("learner", facts)


def refresh(folder: Path) -> int:
    """Write tables and report of a store, say what they come to; the exit status."""
    say(f"\nWriting tables and report of {folder} …")
    try:
        told = "\n".join(_write(folder))
    except Exception as problem:  # the runs are kept; their tables can be written again
        told = f"{type(problem).__name__}: {problem}"
        say(f"They could not be written ({told}). See: {program()} report --store {folder}")
        return FAILED
    say(f"\n{told}\nReport: {folder / 'report.html'}")
    return DONE


def _write(folder: Path) -> list[str]:
    """Write tables and report; how many fits equal the committed ones, and the verdict."""
    from experiments.analysis.questions import answers
    from experiments.output import checks, files
    from experiments.output.report import write_report

    runs, compared = load(folder), checks.fits(folder)
    found = answers(runs, *arguments.own_tables())
    files.write(folder, files.table_files(found, runs))
    write_report(runs, found, folder)
    lines = list[str]()
    if compared.compared:
        equal = compared.compared - len(compared.wrong)
        lines = [f"{equal:,} of your {compared.compared:,} fits equal ours."]
        lines += [f"  differs: {line}" for line in compared.wrong[:5]]
        lines += [f"  {compared.apart:,} more differ, {checks.VARIES}."] if compared.apart else []
    return [*lines, *found[0].sentences[:2]]


@verb(
    "search",
    option("--protocol", "protocols (default: paper)", words, "A,B", ["paper"]),
    option("--dataset", "datasets (default: the paper's 36)", words, "A,B"),
    option("--method", "methods (default: those that the paper tuned)", words, "A,B"),
    option("--trials", "candidates (default: 300)", arguments.COUNT, "N", 300),
    option("--sampler", "random (default) or one of Optuna's, e.g. tpe", default="random"),
    arguments.SHARD,
    flag("--plan", "only estimate how long it takes"),
    flag("--results", "continue from the committed scores in results/search and add to them"),
    arguments.STORE,
    group("how", *arguments.HOW),
)
def find_hyperparameters(args: argparse.Namespace) -> int:
    """Search hyperparameters by cross-validation, as in the paper.

    Random search as in the paper: 300 candidates, 3-fold stratified cross-validation, macro F1, on
    the first split (data seed 42). The paper's grids are not published; the search spaces are the
    values among its winners. Candidate k depends only on the seed, dataset, learner and k, so a
    search can be stopped and resumed, and one with more candidates extends one with fewer. Every
    search is an Optuna study in <store>/search/studies.sqlite; scores and winners of finished ones
    go to CSV files beside it, and `run --experiment tuned --params ours` uses the winners. Exit
    status: 0 all searches are finished, 3 some are not.
    """
    arguments.check(protocol=args.protocol, method=args.method)
    for method in args.method or ():
        space_of(method)
    wanted = arguments.datasets(args.dataset) or catalogue.paper_datasets()
    pairs = [
        (Subject(protocol, dataset, method), args.trials)
        for protocol, dataset, method in product(args.protocol, wanted, args.method or METHODS)
        if catalogue.can_search(method, dataset)
    ]
    index, count = args.shard
    pairs = pairs[index - 1 :: count]
    if not pairs:
        raise NothingToDoError("nothing to do: no such method can be searched on such a dataset")
    seconds = sum(search_seconds(*pair) for pair in pairs)
    limits_of(args)
    say(
        f"{len(pairs):,} searches of {args.trials} candidates: about {duration(seconds)} of core "
        f"time, {duration(seconds / args.workers)} on {args.workers} idle cores, from the start."
    )
    folder = FOLDER if args.results else folder_of(args.store)
    return DONE if args.plan else search(args, pairs, folder, args.sampler)[0]


def search(
    args: argparse.Namespace, pairs: Searches, folder: Path, sampler: str = "random"
) -> tuple[int, bool]:
    """Bring studies to an end and keep their scores; the exit status, and whether any was open."""
    from experiments.runner.study import Search, storage_in

    store, storage = Store(args.store), storage_in(folder_of(args.store))
    searches = [Search(*pair, sampler, storage, folder) for pair in pairs]
    summary, worked = SessionSummary(), False
    while waiting := [(one, jobs) for one in searches if (jobs := one.open())]:
        every = [job for _, jobs in waiting for job in jobs.values()]
        plan = make_plan(every, store.statuses(), limits_of(args))
        summary, worked = drive(args, plan), True
        told = sum([one.tell(jobs, store) for one, jobs in waiting])
        if summary.interrupted or not told:
            break
    say("\n".join(["", *(one.keep(store) for one in searches)]))
    if (folder / WINNERS).is_file():
        say(f"\nWinners are in {folder / WINNERS}.")
    if summary.interrupted or any(one.open() for one in searches):
        why = f": {summary.problem}" if summary.problem else ""
        say(f"Stopped{why}. Resume with: {same_command()}")
        return WORK_LEFT, worked
    return DONE, worked
