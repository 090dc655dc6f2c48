"""What is made of the table of runs: ``tables``, ``measure``, ``report``; ``verify`` checks it."""

import argparse
import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.analysis.questions import answers
from experiments.analysis.runs import Runs, load
from experiments.commands import arguments
from experiments.commands.arguments import COMMITTED, SOURCE, flag, option, own_tables, verb
from experiments.errors import DONE, FAILED, WORK_LEFT, UserError, did_you_mean
from experiments.output import checks, files, formats, metrics, readme
from experiments.output.checks import Check
from experiments.runner import registry
from experiments.runs.store import PLANNED
from experiments.text import duration, program, say, table

MAIN_PROFILES = ("paper", "clean")
"""Of these no job may be left out."""


@verb(
    "tables",
    SOURCE,
    flag("--snippets", "also run the Python snippets of the READMEs and write what they print"),
)
def tables(args: argparse.Namespace) -> int:
    """Write all tables, verdicts and claims.

    Write every table of the results from the table of runs: CSV at full precision beside the
    paper's numbers, and LaTeX (all.tex sets all tables, macros.tex defines single numbers). With
    --results also the generated blocks of the READMEs. Needs neither data nor learners; what has
    not been run is a gap. Tables that no question of the results makes any more are removed.
    """
    runs = load(args.store, args.params or "published")
    found = answers(runs, *own_tables())
    output = arguments.output_folder(args)
    made = files.table_files(found, runs)
    removed = files.write(output, made)
    done = (runs.frame["status"] != "").sum()
    print(f"{output}: {len(made)} files; {done:,} of {len(runs.frame):,} planned jobs have run")
    if any(own_tables()):
        print(*found[0].sentences, sep="\n")
    if removed:
        print(f"Removed: {', '.join(removed)}")
    if runs.store.resolve() == COMMITTED and not (args.plugin or args.output):
        changed = readme.update(readme.fresh(readme.blocks(found, profile_table())))
        changed += readme.update(readme.snippets()) if args.snippets else []
        print(f"READMEs that changed: {', '.join(dict.fromkeys(changed)) or 'none'}")
    return DONE


def profile_table() -> str:
    """What each profile runs, and what that takes; empty where learners cannot be imported."""
    try:
        from experiments.commands.list_plan_failures import cost
        from experiments.runner.experiments import declared_profiles

        rows = []
        for profile in declared_profiles().values():
            jobs, *seconds = cost(profile)
            rows.append([f"`{profile.slug}`", profile.about, f"{jobs:,}", *map(duration, seconds)])
    except ImportError:
        return ""
    names = ["profile", "what it runs", "jobs", "core time", "two idle cores"]
    return readme.pipe_table(names, rows, [False, False, True, True, True])


@verb(
    "measure",
    option("metric", "a function of sklearn.metrics, or ours", metavar="METRIC"),
    option("options", "its keyword arguments", metavar="NAME=VALUE", nargs="*"),
    option("--experiment", "default: tuned", default="tuned"),
    option("--protocol", "default: paper", default="paper"),
    SOURCE,
)
def measure(args: argparse.Namespace) -> int:
    """Make a table of another metric from stored predictions.

    Score stored test predictions by a scikit-learn metric of classes or probabilities, e.g.
    `measure matthews_corrcoef` or `measure f1_score average=weighted`, by a metric of a plug-in, or
    show any score of the table of runs. Macro averages and one against the rest are taken where a
    metric offers several. Exit status: 0 all successful runs are scored, 3 some are not, with the
    reasons.
    """
    plugins = registry.from_plugins("metric")
    metric = metrics.find(args.metric, keywords(args.options), plugins)
    runs = load(args.store, args.params or "published")
    if (args.protocol, args.experiment) not in runs.places:
        known = [f"{p}/{e}" for p, e in runs.places]
        wanted = f"{args.protocol}/{args.experiment}"
        raise UserError(f"{args.store} has no {wanted}; {did_you_mean(wanted, known)}")
    grid, missing = metrics.measure(runs, metric, args.protocol, args.experiment)
    shown = formats.shown_grid(grid, runs)
    rows = [[cell.text + cell.mark for cell in line.cells] for line in shown.lines]
    print(table(shown.headers, [[*row, *[""] * (len(shown.headers) - len(row))] for row in rows]))
    if args.output is not None:
        made = files.grid_files(grid, runs, f"{files.TABLES}/{grid.protocol}/{grid.name}")
        files.write(args.output, made, keep=True)
        print(f"{args.output}: {len(made)} files")
    if not missing:
        return DONE
    print(f"\n{sum(missing.values()):,} runs have no score:")
    print("".join(f"  {count:,}: {reason}\n" for reason, count in missing.items()), end="")
    if not any(reason.endswith("are kept") for reason in missing):
        return WORK_LEFT
    own = "" if runs.store.resolve() == COMMITTED else f" --store {args.store}"
    place = f"--experiment {args.experiment} --protocol {args.protocol}{own}"
    print(f"To fit runs anew and keep predictions:\n  {program()} run {place} --refit METHOD")
    return WORK_LEFT


def keywords(options: list[str]) -> dict[str, Any]:
    """``average=weighted`` as keyword arguments; values are Python's, or plain words."""
    found = {}
    for text in options:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise UserError(f"{text!r} is not of the form NAME=VALUE")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found


@verb("report", SOURCE)
def report(args: argparse.Namespace) -> int:
    """Write the HTML report and its figures from a store of runs.

    Write report.html, one file that loads nothing, and the figures as SVG, PDF and PNG. Needs
    neither data nor learners. It shows what is in the store alone; trees are shown where the verb
    trees has written them.
    """
    from experiments.output.report import write_report

    runs = load(args.store, args.params or "published")
    found = answers(runs, *own_tables())
    page = write_report(runs, found, arguments.output_folder(args), args.params or "")
    say(f"{page}: {page.stat().st_size / 1e6:.1f} MB")
    return DONE


def catalogue(runs: Runs) -> Check:
    """Whether the catalogue asks today for the keys of the whole plan, run or not, the plan leaves
    nothing out, and learners and datasets are called and described as they are in the catalogue.
    """
    found = Check("Plan against the catalogue", len(runs.frame))
    try:
        from experiments.runner.plan import unasked

        stale = unasked(runs.frame, runs.store).groupby(["protocol", "experiment", "method"])
        for (protocol, experiment, method), some in stale:
            found.wrong.append(
                f"{protocol} {experiment}: {len(some):,} jobs of {method} have other keys in "
                "the catalogue: a version, a parameter or the data has changed"
            )
        for (experiment, protocol, method), count in _left_out(runs).items():
            found.wrong.append(f"{protocol} {experiment}: {count:,} jobs of {method} are left out")
        found.wrong += _misdescribed(runs)
    except ImportError as problem:
        found.skipped = f"the registry cannot be imported here ({problem})"
    return found


def _left_out(runs: Runs) -> Counter[tuple[str, str, str]]:
    """How many jobs the plan lacks, by experiment, protocol and method: of the paper's tables under
    both protocols, and of other experiments on datasets where the plan has some of their trials.
    """
    from experiments.runner.experiments import jobs_in, profile_of

    kept = set(runs.frame[list(PLANNED[:-1])].itertuples(index=False, name=None))
    cells = {place[:4] for place in kept}
    lacking = Counter[tuple[str, str, str]]()
    for profile in (*MAIN_PROFILES, "full"):
        for job in jobs_in(profile_of(profile)):
            place = tuple(getattr(job, name) for name in PLANNED[:-1])
            if place not in kept and (profile in MAIN_PROFILES or place[:4] in cells):
                kept.add(place)  # told once
                lacking[job.experiment, job.protocol, job.method] += 1
    return lacking


def _misdescribed(runs: Runs) -> Iterator[str]:
    told = (runs.learners, registry.learner_facts), (runs.datasets, registry.dataset_facts)
    for names, (facts, known) in zip(("method", "dataset"), told, strict=True):
        for slug in runs.frame[names].unique():
            if facts.get(slug) != known(slug):
                yield f"facts.json: {slug} is {facts.get(slug)}, in the catalogue {known(slug)}"


@verb(
    "verify",
    option("--store", "your own runs (default: the committed ones)", Path, "FOLDER", COMMITTED),
    flag("--deep", "also recompute scores from stored predictions"),
)
def verify(args: argparse.Namespace) -> int:
    """Recompute everything derived and compare it; compare your fits with ours.

    Without --store: check every committed run against the schema and the catalogue, make verdicts,
    claims, tables, README blocks, figures and the report anew, and compare them with the committed
    files. With --store: compare the fits of a store with the committed ones, one by one, so that
    even a run of one trial can be checked. Exit status: 0 all is equal, 1 something differs or is
    missing.
    """
    runs = load(args.store)
    done = [checks.rows(args.store)]
    if args.store.resolve() == COMMITTED.resolve():
        from experiments.output.report import render

        found = answers(runs)
        for answer in found[:3]:
            print(f"{answer.title} {' '.join(answer.sentences[:1])}\n")
        done += [catalogue(runs), checks.tables(found, runs)]
        done += [checks.readmes(found, profile_table()), checks.figures(found)]
        done.append(checks.written("Report", {"report.html": render(runs, found)}))
    else:
        done.append(checks.fits(args.store))
    if args.deep:
        from experiments.runner.scores import number_scores, scores_of

        done.append(checks.scores(args.store, scores_of, number_scores))
    for each in done:
        print("\n".join(each.lines()))
    return FAILED if any(each.wrong for each in done) else DONE
