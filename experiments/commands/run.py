"""``run``: do the jobs that are not done yet, then tables, report and what they come to."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.commands import arguments
from experiments.errors import DONE, FAILED, WORK_LEFT, NothingToDoError, check_names

if TYPE_CHECKING:
    from experiments.runner.experiments import Profile, Selection
    from experiments.runner.plan import Plan
    from experiments.runner.session import SessionSummary
    from experiments.runs.job import Job
    from experiments.runs.store import Store

REFRESHABLE = ("tables", "report")
RETRYABLE = ("timeout", "memory", "crash", "error", "skipped")
VERDICT = "verdict.txt"
"""In a store: what its runs came to, when tables and report were written last."""


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "run",
        help="run the jobs that are not done yet",
        description=(
            "Run the selected jobs and store their runs. Finished jobs are not repeated. Jobs "
            "that ended in an error or crash are tried again; jobs that exceeded a limit are tried "
            "again with a higher limit or with --retry. Ctrl-C stops cleanly; the same command "
            "resumes. Exit status: 0 every job has ended (ok, skipped, or stopped at its limit), "
            "1 some ended in an error or crash, 3 some are still to be run, 4 no job is selected."
        ),
    )
    arguments.add_selection(parser)
    ended = (
        f"only run again jobs of the store, of any profile, that ended as: {', '.join(RETRYABLE)}"
    )
    arguments.option(parser, "--retry", ended, arguments.words, "STATUS,…")
    refit = "forget the runs of these methods among the selected jobs and make them anew, for a "
    arguments.option(
        parser, "--refit", f"{refit}plug-in whose code has changed", arguments.words, "A,B", []
    )
    share = "run only share I of N of the jobs, each in a --store of its own; then `merge`"
    arguments.option(parser, "--shard", share, arguments.shard, "I/N")
    fill = "run again those whose test predictions are missing, and keep these if no score differs"
    arguments.flag(parser, "--fill-predictions", fill)
    arguments.add_store(parser)
    group = arguments.add_how(parser)
    arguments.add_executor(group)
    trying = "run every trial, even if another one exceeded its limit on the same dataset"
    arguments.flag(group, "--keep-trying", trying)
    made = f"write these ({', '.join(REFRESHABLE)}) to the store's folder at the end"
    arguments.option(group, "--refresh", made, arguments.words, "VERB,…", [])
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.commands.search import search
    from experiments.runner.experiments import check_selected, jobs_in, searches_in, unique
    from experiments.runner.plan import note_plan, render, search_seconds, shard
    from experiments.runner.session import SessionSummary, sum_up
    from experiments.runs.store import Store
    from experiments.text import say

    check_names("refresh target", args.refresh, REFRESHABLE)
    check_names("status", args.retry, RETRYABLE)
    profile, chosen = arguments.selected(args)
    if args.retry:
        return retry(args, chosen)
    parts = {leaf.slug: jobs_in(leaf, chosen) for leaf in profile.leaves()}
    searches = searches_in(profile, chosen)
    every = [job for part in parts.values() for job in part]
    check_selected(profile, chosen, every, searches)
    store, (index, count) = Store(args.store), args.shard or (1, 1)
    stale = refit_or_tell(store, every, args.refit)
    note_plan(store, every, stale)
    mine = shard(unique(every), index, count)
    searches = searches[index - 1 :: count]
    if not mine and not searches:
        raise NothingToDoError(f"nothing to do: share {index} of {count} is empty")
    plan = plan_of(args, profile, {slug: within(part, mine) for slug, part in parts.items()})
    spent = {subject: search_seconds(subject, trials) for subject, trials in searches}
    say(f"Profile {profile.slug}: {profile.about}.\n\n{render(plan, args.workers, spent)}")
    tell_unnamed(chosen.datasets)
    summary, status, searched = SessionSummary(), DONE, False
    for leaf in profile.leaves():
        part = parts[leaf.slug]
        if searched:  # what it found may be what this part runs
            part = jobs_in(leaf, chosen)
            note_plan(store, part, stale)
            mine = unique([*mine, *shard(unique(part), index, count)])
        summary = one_session(args, leaf.slug, within(part, mine), leaf.time_limit)
        own = [pair for pair in searches_in(leaf, chosen) if pair in searches]
        if own and not summary.interrupted:
            ended, worked = search(args, own)
            status, searched = max(status, ended), searched or worked
        if summary.interrupted or status == WORK_LEFT:
            break
    limits = arguments.limits_of(args, min(leaf.time_limit for leaf in profile.leaves()))
    status = max(status, sum_up(mine, store, limits, summary))
    if args.refresh and not summary.interrupted:
        changed = bool(plan.pending) or searched
        status = max(status, DONE if refresh(args.store, args.refresh, changed) else FAILED)
    if status != WORK_LEFT:
        tell_what_next(args.store, args.refresh, profile.slug)
    return status


def retry(args: argparse.Namespace, chosen: Selection) -> int:
    """Run the jobs of a store once more that ended as told, whatever profile they are of."""
    from experiments.runner.experiments import SEARCH, unique
    from experiments.runner.plan import shard
    from experiments.runner.session import sum_up
    from experiments.runs.job import Job
    from experiments.runs.store import Store

    arguments.require_store(args.store)
    store = Store(args.store)
    names = [field.name for field in fields(Job) if field.name not in ("experiment", "family")]
    rows = store.connect().execute("SELECT * FROM runs JOIN planned USING (key)")
    found = [
        Job(experiment=row["experiment"], **{name: row[name] for name in names})
        for row in rows
        if row["status"] in args.retry and row["experiment"] != SEARCH
    ]
    jobs = shard(unique(filter(chosen.allows, found)), *(args.shard or (1, 1)))
    if not jobs:
        ended = " or ".join(args.retry)
        raise NothingToDoError(f"nothing to do: none of these jobs ended in {ended}")
    summary = one_session(args, "retry", jobs, 3600.0)
    return sum_up(jobs, store, arguments.limits_of(args, 3600.0), summary)


def within(jobs: Sequence[Job], among: Sequence[Job]) -> list[Job]:
    """Those jobs, each piece of work once, that are among others."""
    from experiments.runner.experiments import unique

    keys = {job.key for job in among}
    return [job for job in unique(jobs) if job.key in keys]


def plan_of(args: argparse.Namespace, profile: Profile, parts: Mapping[str, Sequence[Job]]) -> Plan:
    """The plans of all parts of a profile, each by its own time limit, as one."""
    from experiments.runner.experiments import unique
    from experiments.runner.plan import Plan, make_plan
    from experiments.runs.store import Store

    statuses = Store(args.store).statuses()
    plans = [
        make_plan(parts[leaf.slug], statuses, arguments.limits_of(args, leaf.time_limit))
        for leaf in profile.leaves()
    ]
    jobs = unique(job for plan in plans for job in plan.jobs)
    pending = unique(job for plan in plans for job in plan.pending)
    seconds = {key: spent for plan in plans for key, spent in plan.seconds.items()}
    return Plan(jobs, pending, seconds, max((p.limits for p in plans), key=lambda one: one.seconds))


def one_session(
    args: argparse.Namespace,
    title: str,
    jobs: Sequence[Job],
    time_limit: float,
) -> SessionSummary:
    """Do what is left of some jobs."""
    from experiments.runner.display import Progress
    from experiments.runner.plan import make_plan, seconds_of
    from experiments.runner.queue import Queue
    from experiments.runner.session import SessionSummary, drive
    from experiments.runs.store import Store

    limits, store = arguments.limits_of(args, time_limit), Store(args.store)
    statuses = store.statuses()
    if getattr(args, "fill_predictions", False):
        kept = store.predicted_keys()
        good = {key for key, one in statuses.items() if one["status"] == "ok"} - kept
        again = [job for job in jobs if job.key in good]
        seconds = {job.key: seconds_of(job.method, job.dataset) for job in again}
        queue, progress = Queue(again, seconds), Progress(again, seconds, args.workers)
        return drive(args, queue, progress, limits, "predictions", again=True)
    plan = make_plan(jobs, statuses, limits, getattr(args, "retry", None))
    if not plan.pending:
        return SessionSummary()
    give_up = not getattr(args, "keep_trying", False)
    queue = Queue(plan.pending, plan.seconds, plan.harmless(), give_up)
    progress = Progress(plan.pending, plan.seconds, args.workers)
    return drive(args, queue, progress, limits, f"profile {title}")


def refit_or_tell(store: Store, jobs: Sequence[Job], refit: Sequence[str]) -> list[str]:
    """Forget the runs that shall be made anew; say whose code has changed under its version."""
    from experiments.runner.plan import stale_learners
    from experiments.runner.registry import learner_facts
    from experiments.text import same_command, say

    check_names("method to refit", refit, dict.fromkeys(job.method for job in jobs))
    keys = [(job.key,) for job in jobs if job.method in refit]
    if keys:
        with store.writing() as connection:
            connection.executemany("DELETE FROM runs WHERE key = ?", keys)
            connection.executemany("DELETE FROM predictions WHERE key = ?", keys)
    stale = stale_learners(store, jobs)
    for slug, done in stale.items():
        told = learner_facts(slug)
        say(
            f"{told['file']} has changed since {done:,} stored runs of {slug} version "
            f"{told['version']}, which are used as they are.\n"
            f"If that changed the learner, raise its version, or: {same_command()} --refit {slug}"
        )
    return list(stale)


def tell_unnamed(named: Collection[str] | None) -> None:
    """Datasets of a plug-in run when they are named; say so if none is."""
    from experiments.runner import registry
    from experiments.text import say

    offered = registry.from_plugins("dataset")
    if offered and not set(offered) & set(named or ()):
        say(f"The plug-in's datasets run when they are named: --dataset {','.join(offered)}")


def refresh(folder: Path, verbs: Sequence[str], changed: bool) -> bool:
    """Bring tables and report of a store up to date; whether that went well."""
    from experiments.text import program, say

    written = (folder / VERDICT).is_file() and (folder / "report.html").is_file()
    if written and not changed:
        return True
    say(f"\nWriting {' and '.join(verbs)} of {folder} …")
    try:
        lines = _write(folder, verbs)
    except Exception as problem:  # the runs are kept; their tables can be written again
        told = f"{type(problem).__name__}: {problem}"
        say(f"They could not be written ({told}). See: {program()} report --store {folder}")
        return False
    (folder / VERDICT).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return True


def _write(folder: Path, verbs: Sequence[str]) -> list[str]:
    """Write tables and report; how many fits equal the committed ones, and the verdict."""
    from experiments.analysis.answers import answers
    from experiments.analysis.printed import printed
    from experiments.analysis.runs import load
    from experiments.output import checks, files
    from experiments.output.report.page import write_report

    runs = load(folder)
    found = answers(runs)
    if "tables" in verbs:
        files.write(folder, files.table_files(found, runs))
    if "report" in verbs:
        files.write_figures(found, folder / files.FIGURES)
        write_report(runs, found, printed(), folder)
    compared = checks.fits(folder)
    lines = []
    if compared.compared:
        equal = compared.compared - len(compared.wrong)
        lines.append(f"{equal:,} of your {compared.compared:,} fits equal ours.")
        lines += [f"  differs: {line}" for line in compared.wrong[:5]]
    return lines + [sentence for answer in found[:1] for sentence in answer.sentences[:2]]


def tell_what_next(folder: Path, verbs: Sequence[str], profile: str) -> None:
    """What the runs came to, where to read it, and the next command."""
    from experiments.text import program, say

    if verbs and (folder / VERDICT).is_file():
        say("\n" + (folder / VERDICT).read_text(encoding="utf-8").rstrip())
    if "report" in verbs and (folder / "report.html").is_file():
        say(f"Report: {folder / 'report.html'}")
    after = {"smoke": "quick", "quick": "paper", "paper": "extended"}.get(profile)
    if after:
        say(f"Next: {program()} plan --profile {after} --store {folder}")
