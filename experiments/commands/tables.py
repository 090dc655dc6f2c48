"""``tables``: every table of the paper from run records, as CSV and LaTeX."""

from __future__ import annotations

import argparse

from experiments.commands import arguments


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "tables",
        help="write all tables from run records",
        description=(
            "Write the paper's tables from run records: CSV at full precision beside the paper's "
            "numbers, and booktabs LaTeX (all.tex typesets all tables, macros define single "
            "numbers). Also writes statistics over datasets, the comparison of the protocols, and "
            "tables of other experiments in the store. Needs neither data nor learners; what has "
            "not been run is shown as a gap."
        ),
    )
    arguments.add_source(parser)
    arguments.add_more_tables(parser)
    arguments.add_output(parser, "tables")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.analysis.findings import findings_in
    from experiments.core.files import write_files
    from experiments.render.files import files_of

    arguments.require_store(args.store)
    found = findings_in(args.store, args.params, arguments.more_tables(args))
    arguments.tell_problems(found.problems)
    output = arguments.output_of(args, "tables", "tables")
    files = files_of(found)
    write_files(output, files)
    arguments.tell_superseded(args.store, found.superseded)
    made, planned = found.results.jobs()
    print(f"{output}: {len(files)} files; {made:,} of {planned:,} planned jobs are on record")
    return 0
