"""``tables``: every table of the results from the table of runs, as CSV and LaTeX."""

from __future__ import annotations

import argparse
from typing import Any

from experiments.commands import arguments


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "tables",
        help="write all tables, verdicts and claims",
        description=(
            "Write every table of the results from the table of runs: CSV at full precision beside "
            "the paper's numbers, and LaTeX (all.tex sets all tables, macros.tex defines single "
            "numbers). With --results also the generated blocks of the READMEs. "
            "Needs neither data nor learners; what has not been run is a gap. Tables that no "
            "question of the results makes any more are removed."
        ),
    )
    arguments.add_source(parser)
    parser.add_argument(
        "--snippets",
        action="store_true",
        help="also run the Python snippets of the READMEs and write what they print",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.analysis.answers import answers
    from experiments.analysis.runs import load
    from experiments.output import files, readme
    from experiments.runs.archive import COMMITTED

    runs = load(args.store, args.params or "published")
    offered: dict[str, Any] = {}
    if args.plugin:
        from experiments.runner import registry

        offered = {kind: registry.from_plugins(kind) for kind in ("table", "printed")}
    found = answers(runs, None, offered.get("table"), offered.get("printed"))
    output = arguments.output_folder(args)
    made = files.table_files(found, runs)
    removed = files.write(output, made)
    done = (runs.frame["status"] != "").sum()
    print(f"{output}: {len(made)} files; {done:,} of {len(runs.frame):,} planned jobs have run")
    if removed:
        print(f"Removed: {', '.join(removed)}")
    if runs.store.resolve() == COMMITTED and not (args.plugin or args.output):
        changed = readme.update(readme.blocks(found, profile_table()))
        changed += readme.update_snippets() if args.snippets else []
        print(f"READMEs that changed: {', '.join(dict.fromkeys(changed)) or 'none'}")
    return 0


def profile_table() -> str:
    """For experiments/README.md: what each profile runs, and how many jobs that is.

    Empty where the registry, which knows the jobs, cannot be imported.
    """
    from experiments.output.readme import pipe_row

    rows = []
    try:
        from experiments.runner.experiments import declared_profiles, jobs_in, searches_in

        profiles = declared_profiles().values()
        keys = {each.slug: {job.key for job in jobs_in(each)} for each in profiles if each.parts}
        for profile in profiles:
            asked = set().union(*(keys[leaf.slug] for leaf in profile.leaves()))
            count = len(asked) + sum(candidates for _, candidates in searches_in(profile))
            rows.append(pipe_row([f"`{profile.slug}`", profile.about, f"{count:,}"]))
    except ImportError:
        return ""
    return "\n".join([pipe_row(["profile", "what it runs", "jobs"]), "|---|---|---:|", *rows])
