"""``audit``: run committed jobs again, drawn at random, and compare them score by score."""

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import fields
from typing import Any

import pandas as pd

from experiments.commands import arguments
from experiments.commands.arguments import AMOUNT, COMMITTED, COUNT, option, verb
from experiments.errors import DONE, FAILED, WORK_LEFT
from experiments.output.checks import VARIES, unlike, varies
from experiments.runner.plan import Plan
from experiments.runner.session import drive
from experiments.runs import archive
from experiments.runs.schema import Job, disagreement, key_of
from experiments.runs.store import Store
from experiments.text import outcome, say

CONFIDENCE = 0.95


@verb(
    "audit",
    option("number", "how many to run", COUNT, "N"),
    option("--seed", "draw the same jobs again (default: others)", int, "S"),
    option("--most-seconds", "leave out runs over so much CPU time (10)", AMOUNT, "S", 10.0),
    arguments.group("how", *arguments.HOW),
)
def run(args: argparse.Namespace) -> int:
    """Run random committed jobs again and compare.

    Run N random committed jobs again, half of them from the headline (GradTree and CART: tuned,
    default, nested), and compare every score. The committed results stay as they are. Exit status:
    0 all are equal, 1 some differ, 3 some could not be compared.
    """
    runs = archive.read_runs(COMMITTED)
    headline = runs["key"].isin(archive.headline(archive.read_plan(COMMITTED)))
    runs = runs[runs["status"] == "ok"].assign(headline=headline)
    slow = ~(runs["cpu_seconds"] + runs["shared_seconds"].fillna(0) <= args.most_seconds)
    seed = random.SystemRandom().randrange(10**6) if args.seed is None else args.seed
    rows = archive.rows(draw(runs[~slow], args.number, random.Random(seed)))
    say(
        f"{len(rows):,} of {(~slow).sum():,} runs, drawn with --seed {seed}. Left out: those "
        f"over {args.most_seconds:g} CPU seconds, {100 * slow.mean():.1f} % of all {len(runs):,} "
        f"successful runs and {100 * slow[runs['headline']].mean():.1f} % of the headline's."
    )
    with tempfile.TemporaryDirectory() as folder, closing(Store(folder)) as store:
        args.store = folder
        jobs = [job_of(row) for row in rows]
        seconds = {job.key: row["cpu_seconds"] for job, row in zip(jobs, rows, strict=True)}
        plan = Plan(jobs, jobs, seconds, arguments.limits_of(args))
        drive(args, plan, give_up=False)
        known = {**archive.read_facts(COMMITTED)["environment"], **store.facts("environment")}
        return compare(rows, store, known)


def job_of(run: Mapping[str, Any]) -> Job:
    names = [each.name for each in fields(Job) if each.name not in ("experiment", "family")]
    return Job(experiment="audit", **{name: run[name] for name in names})


def draw(runs: pd.DataFrame, number: int, chance: random.Random) -> pd.DataFrame:
    """Some runs, half of them of the headline as far as it has so many; none twice."""
    first, others = (sorted(runs["key"][runs["headline"] == one]) for one in (True, False))
    chosen = chance.sample(first, min(len(first), (number + 1) // 2))
    chosen += chance.sample(others, min(len(others), number - len(chosen)))
    return runs[runs["key"].isin(chosen)]


def compare(rows: list[dict[str, Any]], store: Store, known: dict[str, Any]) -> int:
    """Print which runs differ and what that proves; the exit status."""
    equal, differ, apart, missing = (Counter[Any]() for _ in range(4))
    for ours in rows:
        theirs = store.run(key_of(ours))
        if theirs is None or theirs["status"] in ("skipped", "timeout", "memory"):
            missing["not run" if theirs is None else outcome(theirs)] += 1
            continue
        same = theirs["status"] == "ok" and theirs["key"] == ours["key"]
        ends = f"{ours['key']} ok and {theirs['key']} {outcome(theirs)}"
        difference = disagreement(ours, theirs) if same else ends
        ids = [str(one["environment"]) for one in (ours, theirs)]
        other = same and varies(known, ours, theirs)
        if other:
            apart[not difference] += 1
        else:
            (differ if difference else equal)[ours["headline"]] += 1
        if difference:
            where = [str(ours[n]) for n in ("protocol", "dataset", "method", "trial", "seed")]
            what = "another processor" if other else "differs"
            say(f"{what}, committed and here: {' '.join(where)}: {difference}")
            say(f"  {ids[0]} and {ids[1]}: {unlike(known, *ids)}")
    for reason, count in missing.items():
        say(f"not compared: {count:,}, {reason}")
    if apart:
        say(f"counted apart, {VARIES}: {apart[True]} of {apart.total()} equal")
    say(verdict(equal, differ))
    return FAILED if differ else WORK_LEFT if missing else DONE


def verdict(equal: Counter[bool], differ: Counter[bool]) -> str:
    """How many are equal; if all, the share of altered runs that would have shown (binomial)."""
    number, first = (equal + differ).total(), (equal + differ)[True]
    said = f"{equal.total()} of {number} equal ({first} headline, {number - first} others)"
    if differ or not number:
        return said
    share = 100 * (1 - (1 - CONFIDENCE) ** (1 / number))
    told = f"{said}: had more than {share:.1f} % of these runs, weighted so, been altered, this "
    return f"{told}would have been noticed with {100 * CONFIDENCE:.0f} % probability."
