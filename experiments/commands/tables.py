"""``tables``: every table of the results from the table of runs, as CSV and LaTeX."""

from __future__ import annotations

import argparse

from experiments.analysis.answers import answers
from experiments.analysis.runs import load
from experiments.commands.arguments import COMMITTED, SOURCE, flag, output_folder, verb
from experiments.errors import DONE
from experiments.output import files, readme
from experiments.runner import registry


@verb(
    "tables",
    SOURCE,
    flag("--snippets", "also run the Python snippets of the READMEs and write what they print"),
)
def run(args: argparse.Namespace) -> int:
    """Write all tables, verdicts and claims.

    Write every table of the results from the table of runs: CSV at full precision beside the
    paper's numbers, and LaTeX (all.tex sets all tables, macros.tex defines single numbers). With
    --results also the generated blocks of the READMEs. Needs neither data nor learners; what has
    not been run is a gap. Tables that no question of the results makes any more are removed.
    """
    runs = load(args.store, args.params or "published")
    found = answers(runs, None, *map(registry.from_plugins, ("table", "printed")))
    output = output_folder(args)
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
    return DONE


def profile_table() -> str:
    """For experiments/README.md: what each profile runs, and how many jobs that is.

    Empty where the registry, which knows the jobs, cannot be imported.
    """
    try:
        from experiments.runner.experiments import declared_profiles, jobs_in, searches_in

        rows, profiles = [], declared_profiles().values()
        keys = {each.slug: {job.key for job in jobs_in(each)} for each in profiles if each.parts}
        for profile in profiles:
            asked = set().union(*(keys[leaf.slug] for leaf in profile.leaves()))
            count = len(asked) + sum(candidates for _, candidates in searches_in(profile))
            rows.append([f"`{profile.slug}`", profile.about, f"{count:,}"])
    except ImportError:
        return ""
    return readme.pipe_table(["profile", "what it runs", "jobs"], rows, [False, False, True])
