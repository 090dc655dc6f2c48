"""``report``: the figures, and one HTML page that shows everything."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.commands import arguments


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "report",
        help="write the HTML report and its figures from run records",
        description=(
            "Write one self-contained HTML file with claims, tables, verdicts, figures and trees, "
            "and the figures as SVG, PDF and PNG. The page works from disk and loads nothing. "
            "Needs neither data nor learners; what has not been run is shown as a gap."
        ),
    )
    arguments.add_source(parser)
    arguments.add_more_tables(parser)
    arguments.add_output(parser, "report.html and the folder figures")
    parser.add_argument(
        "--no-figure-files",
        action="store_true",
        help="write only the page, which contains its figures",
    )
    parser.add_argument(
        "--trees",
        type=Path,
        default=arguments.RESULTS / "trees",
        metavar="FOLDER",
        help="stored trees and training curves to show (default: results/trees)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.analysis.findings import findings_in
    from experiments.analysis.verifying import compare_fits
    from experiments.core.planned import read_datasets
    from experiments.core.store import COMMITTED, Store
    from experiments.render.figures.style import save
    from experiments.render.report.collect import Inputs, assemble, draw
    from experiments.render.report.page import write
    from experiments.render.report.payload import read_curves

    arguments.require_store(args.store)
    committed = args.store.resolve() == COMMITTED.resolve()
    output = arguments.output_of(args, ".", "report")
    store = Store(args.store)
    found = findings_in(args.store, args.params, arguments.more_tables(args))
    arguments.tell_problems(found.problems)
    inputs = Inputs(
        findings=found,
        records=store.records(),
        registry={**read_datasets(COMMITTED), **read_datasets(args.store)},
        environments=store.environments(),
        trees=args.trees,
        curves=read_curves(args.trees),
        run_options=f" --params {args.params}" if args.params else "",
        repeats=None if committed else compare_fits(store.latest(), Store(COMMITTED).latest()),
    )
    plates = draw(inputs)
    if not args.no_figure_files:
        figures = output / "figures"
        for plate in plates:
            save(plate.figure, figures / plate.name)
        print(f"{figures}: {len(plates)} figures")
    page = write(assemble(inputs, plates), output / "report.html")
    made, planned = found.results.jobs()
    size = page.stat().st_size / 1e6
    print(f"{page}: {size:.1f} MB; {made:,} of {planned:,} planned jobs are on record")
    return 0
