"""The report: one page that loads nothing, with answers first, then tables, datasets and failures.
Its script draws tables and trees when they are unfolded, from the JSON that is made here.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, FileSystemLoader
from markdown_it import MarkdownIt
from markupsafe import Markup

from experiments.analysis.answer import Answer, Grid, Table
from experiments.analysis.drawing import inline_svg
from experiments.analysis.grids import has_results
from experiments.analysis.printed import printed
from experiments.analysis.runs import Runs
from experiments.analysis.verdicts import IN_WORDS
from experiments.output import files, formats
from experiments.runs import archive

WEB = Path(__file__).resolve().parent / "web"
NAME = "GradTree, reproduced"
LEAD = ("reproduces", "conclusions", "use")
"""What a reader asks first; the first sentences of these answers stand at the top."""
TABLES = "tables"
"""The answer that has the paper's tables; it stands after the others."""
OUTCOMES = {
    "exact": ("=", "mean and deviation equal to the digits that the paper prints"),
    "equivalent": ("≈", "shown to lie within 0.02 of F1 or 10% of tree size"),
    "undecided": ("?", "shown neither to differ nor to be equivalent (undecided in the CSV files)"),
    "better": ("▲", "significantly better than printed"),
    "worse": ("▼", "significantly worse than printed"),
    "missing": ("–", "the paper or this suite has no number"),
}
SLUGS = ("dataset", "method", "learner")
"""Columns whose slugs are shown as names."""
DIGITS = 4
"""Behind the point, that the trials of a cell are kept to; none if all are whole."""
Data = dict[str, Any]
"""JSON for the script of the page, or what the template shows."""


def write_report(runs: Runs, answers: Sequence[Answer], folder: Path, params: str = "") -> Path:
    """Write the figures and ``report.html``; see ``render``."""
    for figure in [figure for answer in answers for figure in answer.figures]:
        files.save(figure.draw(), folder / files.FIGURES / figure.name)
    return files.put(folder / "report.html", render(runs, answers, params).encode())


def render(runs: Runs, answers: Sequence[Answer], params: str = "") -> str:
    """The page as text; ``params`` says where tuned hyperparameters come from, for its commands."""
    sections = [answer for answer in answers if answer.question != TABLES]
    groups = _table_groups(answers)
    datasets = _datasets(runs)
    shown = [table for answer in sections for table in folds(answer)]
    shown += [table for some in groups.values() for table in some]
    first = next(iter(groups.values()))[0] if groups else None
    tables = {slug_of(table): table for table in shown}
    data = {
        "tables": {slug: table_data(table, runs) for slug, table in tables.items()},
        "datasets": {each["slug"]: each.pop("trees") for each in datasets},
        "glyphs": {outcome: glyph for outcome, (glyph, _) in OUTCOMES.items()},
        "verdicts": IN_WORDS,
        "options": f" --params {params}" if params else "",
        "overview": {"slug": slug_of(first), "title": first.title} if first else {},
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    how: Data = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True}
    environment = Environment(loader=FileSystemLoader(WEB), **how)
    environment.filters |= {"markdown": inline_markdown, "slug": slug_of, "folds": folds}
    environment.filters |= {"beside_paper": beside_paper, "svg": inline_svg}
    names = ("page.css", "page.js", "tree.js")
    css, page, tree = (Markup((WEB / name).read_text(encoding="utf-8")) for name in names)
    done = runs.frame[runs.frame["status"] != ""].drop_duplicates("key")
    counts: Data = next((a.extra["counts"] for a in answers if "counts" in a.extra), {})
    return environment.get_template("page.html").render(
        name=NAME,
        css=css,
        script=page + tree,
        data=Markup(text),
        lead=[answer for answer in sections if answer.question in LEAD],
        sections=sections,
        about_tables=next((a.sentences for a in answers if a.question == TABLES), ()),
        groups=groups,
        outcomes=OUTCOMES,
        verdict_names=IN_WORDS,
        verdicts=[(outcome, counts[outcome]) for outcome in OUTCOMES if counts.get(outcome)],
        datasets=datasets,
        failures=_failures(done, runs),
        failed=Counter(done.loc[done["status"] != "ok", "status"]),
        environments=_environments(done, runs),
        runs=len(done),
        planned=runs.frame["key"].nunique(),
        hours=done["cpu_seconds"].sum() / 3600,
    )


def inline_markdown(text: str) -> Markup:
    """A sentence as HTML: tags in it are shown as text, pictures are not loaded."""
    return Markup(MarkdownIt("commonmark", {"html": False}).disable("image").renderInline(text))


def slug_of(table: Table | Grid) -> str:
    return "-".join(part for part in (table.name, table.protocol) if part)


def beside_paper(table: Table | Grid) -> bool:
    return isinstance(table, Grid) and "verdict" in table.frame


def folds(answer: Answer) -> list[Table | Grid]:
    """The tables that a section shows; those beside the paper's numbers stand after all answers."""
    return [each for each in answer.tables if answer.shows(each) and not beside_paper(each)]


def _table_groups(answers: Sequence[Answer]) -> dict[str, list[Table | Grid]]:
    """Tables that no section shows, by title: those beside the paper's numbers first."""
    groups: dict[str, list[Table | Grid]] = {"": [], "Summaries and facts": []}
    for answer in answers:
        for table in answer.tables:
            of_paper, shown = answer.question == TABLES, answer.shows(table)
            if isinstance(table, Grid) and not has_results(table):
                continue
            if beside_paper(table):
                title = ""
            elif isinstance(table, Grid) and (of_paper or not shown):
                title = f"More tables of datasets and learners, protocol {table.protocol}"
            elif of_paper and shown:
                title = "Summaries and facts"
            else:
                continue
            groups.setdefault(title, []).append(table)
    return {title: some for title, some in groups.items() if some}


def table_data(table: Table | Grid, runs: Runs) -> Data:
    """A table as JSON: headers, groups, which columns are numbers, and lines of texts."""
    if isinstance(table, Grid):
        return grid_data(table, runs)
    named = {c: table.frame[c].map(runs.name) for c in table.frame if str(c).lower() in SLUGS}
    return _texts(formats.shown(replace(table, frame=table.frame.assign(**named))))


def _texts(shown: formats.Shown) -> Data:
    """Each cell its text; a bold or marked one a list of text, bold and mark."""
    return {
        "headers": list(shown.headers),
        "groups": shown.spans(range(len(shown.headers))) if any(shown.groups) else [],
        "numeric": [int(numeric) for numeric in shown.numeric],
        "lines": [
            [[c.text, int(c.bold), c.mark] if c.bold or c.mark else c.text for c in line.cells]
            for line in shown.lines
        ],
    }


def grid_data(grid: Grid, runs: Runs) -> Data:
    """A dataset x method table as JSON, with what stands behind each cell.

    ``behind`` has, beside every line, the slug of its dataset and a list per cell: the verdict, the
    paper's number, the difference from it, a note, the scores of the trials as whole numbers of
    10**-digits, and the numbers of the trials where they are not 0, 1, 2, ...
    """
    shown = formats.shown_grid(grid, runs)
    trials = runs.of(grid.protocol, grid.experiment)
    trials = trials[trials["status"] == "ok"].dropna(subset=[grid.metric])
    digits = 0 if (trials[grid.metric] % 1 == 0).all() else DIGITS
    numbers = trials["trial"].to_numpy()
    whole = (trials[grid.metric].to_numpy(float) * 10**digits).round().astype(int)
    places = trials.groupby(["dataset", "method"], sort=False).indices.items()
    scores = {place: (numbers[at].tolist(), whole[at].tolist()) for place, at in places}
    cells = {(c["dataset"], c["method"]): c for c in grid.frame.to_dict("records")}
    behind: list[Any] = []
    for dataset in (line.dataset for line in shown.lines):
        own = [(dataset, method) for method in grid.methods] if dataset else []
        line = [_behind(cells[at], grid, *scores.get(at, ([], []))) for at in own]
        behind.append([dataset, *line] if dataset else "")
    places = {"experiment": grid.experiment, "protocol": grid.protocol, "digits": digits}
    return {**_texts(shown), "behind": behind, "methods": list(grid.methods), **places}


def _behind(cell: Data, grid: Grid, trials: list[int], scores: list[int]) -> list[Any]:
    paper = difference = note = ""
    if formats.missing(cell.get("paper_mean")):
        paper = formats.show(cell.get("paper_missing"))
    else:
        digits = grid.decimals, grid.std_decimals
        paper = formats.spread(cell["paper_mean"], cell["paper_std"], *digits)
        if not formats.missing(cell["mean"]):
            difference = formats.change(cell["mean"] - cell["paper_mean"], grid.decimals)
    if unstable := formats.unstable(cell):
        changed = f"{unstable:.0f} of {cell['refitted_trials']:.0f} trials"
        note = f"† A rounding error in the training rows changes {changed}."
    counted = trials == list(range(len(trials)))
    verdict = formats.show(cell.get("verdict"))
    found = [verdict, paper, difference, note, scores, [] if counted else trials]
    while found and not found[-1]:
        found.pop()
    return found


def _datasets(runs: Runs) -> list[Data]:
    """The datasets that have been run: the paper's in its order, then the others by name."""
    order = list(printed().datasets["slug"])
    order += sorted(set(runs.datasets) - set(order), key=runs.name)
    committed = runs.store.resolve() == archive.COMMITTED.resolve()
    folder = (runs.store.parent if committed else runs.store) / files.TREES
    used = set(runs.frame.loc[runs.frame["status"] != "", "dataset"])
    found = []
    for slug in (slug for slug in order if slug in used):
        facts = runs.datasets.get(slug, {})
        counts = facts.get("class_counts", [])
        labels = f"{len(counts)} classes" if counts else str(facts.get("task", "0 classes"))
        if len(counts) == 2:
            labels = "classes " + " / ".join(f"{count:,}" for count in counts)
        trees = [tree_data(entry, runs, slug) for entry in files.read_trees(folder, slug)]
        line = {"slug": slug, "name": runs.name(slug), "labels": labels, "trees": trees}
        line |= {"rows": facts.get("n_rows", 0), "features": facts.get("n_features", 0)}
        found.append(line)
    return found


def tree_data(entry: Data, runs: Runs, dataset: str) -> Data:
    """What the page draws: an inner node is ``[column, left condition, right condition, left node,
    right node]``, with 0 for the opposite of a left ``≤``; a leaf ``[class, its share, rows]``.
    """
    tree = entry["tree"]
    size = "1 node" if len(tree["feature"]) == 1 else f"{len(tree['feature'])} nodes"
    score = "" if entry["test_f1"] is None else f", test F1 {entry['test_f1']:.3f}"
    counts = tree.get("n_node_samples")

    def node(at: int) -> list[Any]:
        left, right = tree["children_left"][at], tree["children_right"][at]
        if left < 0:
            best = int(np.argmax(shares := tree["value"][at]))
            return [best, round(shares[best], 2), counts[at] if counts else None]
        column, low, high = entry["splits"][str(at)]
        opposite = low.startswith("≤ ") and high == f"> {low[2:]}"
        return [column, low, 0 if opposite else high, node(left), node(right)]

    note = files.codes_note(runs.datasets.get(dataset, {}), entry["protocol"])
    return {
        "name": runs.name(entry["method"]),
        "caption": f"Trial {entry['trial']} of protocol {entry['protocol']}: {size}{score}. "
        f"A leaf has its class, the share of that class and the number of training rows. {note}",
        "classes": [str(name) for name in entry["class_names"]],
        "root": node(0),
    }


def _failures(done: pd.DataFrame, runs: Runs) -> list[Data]:
    """Runs without a score, one line per learner and reason; what went wrong before skips."""
    lines = []
    failed = done[done["status"] != "ok"].groupby(["method", "status", "reason"])
    for (method, status, reason), some in failed:
        log = next(filter(None, [*some["traceback"], *some["log_tail"]]), "")
        where = ", ".join(sorted(map(runs.name, some["dataset"].unique())))
        line = {"method": runs.name(str(method)), "status": status, "reason": reason, "log": log}
        lines.append({**line, "count": len(some), "where": where})
    return sorted(lines, key=lambda line: (line["status"] == "skipped", -line["count"]))


def _environments(done: pd.DataFrame, runs: Runs) -> list[Data]:
    found = []
    for name, count in done["environment"].value_counts().items():
        if facts := runs.environments.get(str(name), {}):
            sides = [facts.get(part, {}) for part in ("machine", "versions")]
            told = [", ".join(f"{what} {value}" for what, value in one.items()) for one in sides]
            found.append({"runs": count, "machine": told[0], "versions": told[1]})
    return found
