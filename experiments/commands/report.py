"""``report``: the figures, and one HTML page that shows everything."""

from __future__ import annotations

import argparse

from experiments.commands import arguments


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "report",
        help="write the HTML report and its figures from a store of runs",
        description=(
            "Write report.html, one file that loads nothing, and the figures as SVG, PDF and PNG. "
            "Needs neither data nor learners. It shows what is in the store alone; trees are "
            "shown where the verb trees has written them."
        ),
    )
    arguments.add_source(parser)
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.analysis.answers import answers
    from experiments.analysis.printed import printed
    from experiments.analysis.runs import load
    from experiments.output.files import FIGURES, write_figures
    from experiments.output.report.page import write_report
    from experiments.text import say

    arguments.require_store(args.store)
    runs = load(args.store, args.params or "published")
    found, folder = answers(runs), arguments.output_folder(args)
    drawn = len({path.stem for path in write_figures(found, folder / FIGURES)})
    say(f"{folder / FIGURES}: {drawn} figure{'s' * (drawn != 1)}")
    page = write_report(runs, found, printed(), folder, args.params or "")
    say(f"{page}: {page.stat().st_size / 1e6:.1f} MB")
    if args.open:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())
    return 0
