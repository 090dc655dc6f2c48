"""``report``: the figures, and one HTML page that shows everything."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.commands.tables import REPOSITORY, add_store


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "report",
        help="write the figures and the HTML report from run records",
        description=(
            "Write one self-contained HTML file (open it from disk, it loads nothing) with "
            "claims, tables, verdicts, figures and trees, and the figures as SVG, PDF and PNG. "
            "Needs no data and no learner; what has not been run is shown as a gap."
        ),
    )
    add_store(parser)
    results = REPOSITORY / "results"
    parser.add_argument(
        "--output",
        type=Path,
        default=results,
        metavar="FOLDER",
        help="where report.html and the folder figures go (default: results)",
    )
    parser.add_argument(
        "--no-figure-files",
        action="store_true",
        help="write the page alone; it has its figures inside",
    )
    parser.add_argument(
        "--trees",
        type=Path,
        default=results / "trees",
        metavar="FOLDER",
        help="stored trees and training histories (default: results/trees)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    import datasets
    from experiments.analysis.findings import findings_in
    from experiments.core.store import Store
    from experiments.render.figures.style import save
    from experiments.render.report.collect import Inputs, assemble, draw
    from experiments.render.report.page import write
    from experiments.render.report.stored import read_curves

    store = Store(args.store)
    inputs = Inputs(
        findings=findings_in(args.store, args.params),
        records=store.records(),
        registry={slug: datasets.record(slug) for slug in datasets.names()},
        environments=store.environments(),
        trees=args.trees,
        curves=read_curves(args.trees),
        run_options=f" --params {args.params}" if args.params else "",
    )
    plates = draw(inputs)
    if not args.no_figure_files:
        figures = args.output / "figures"
        for plate in plates:
            save(plate.figure, figures / plate.name)
        print(f"{figures}: {len(plates)} figures")
    page = write(assemble(inputs, plates), args.output / "report.html")
    print(f"{page}: {page.stat().st_size / 1e6:.1f} MB from {len(inputs.records):,} records")
    return 0
