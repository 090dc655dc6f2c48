"""``report``: the figures, and one HTML page that shows everything."""

from __future__ import annotations

import argparse
import webbrowser

from experiments.analysis.answers import answers
from experiments.analysis.runs import load
from experiments.commands import arguments
from experiments.errors import DONE
from experiments.text import say


@arguments.verb("report", arguments.SOURCE, arguments.flag("--open", "open it in a browser"))
def run(args: argparse.Namespace) -> int:
    """Write the HTML report and its figures from a store of runs.

    Write report.html, one file that loads nothing, and the figures as SVG, PDF and PNG. Needs
    neither data nor learners. It shows what is in the store alone; trees are shown where the verb
    trees has written them.
    """
    from experiments.output.report import write_report

    arguments.require_store(args.store)
    runs = load(args.store, args.params or "published")
    page = write_report(runs, answers(runs), arguments.output_folder(args), args.params or "")
    say(f"{page}: {page.stat().st_size / 1e6:.1f} MB")
    if args.open:
        webbrowser.open(page.resolve().as_uri())
    return DONE
