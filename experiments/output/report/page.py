"""The page: answers first, then the paper's tables, the datasets, what failed and how to rerun."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader
from markdown_it import MarkdownIt
from markupsafe import Markup

from experiments.analysis.answer import Answer, Grid, Table
from experiments.analysis.printed import Printed
from experiments.analysis.runs import Runs
from experiments.analysis.verdicts import IN_WORDS
from experiments.output.report.svg import inline_svg
from experiments.output.report.tables import grid_data, table_data
from experiments.output.report.trees import FOLDER, read_trees, tree_data
from experiments.runs import archive

HERE = Path(__file__).resolve().parent
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
COMMANDS = (
    ("make setup", "create the environment"),
    ("make reproduce PROFILE=smoke", "a first look in a minute; quick, paper and full are larger"),
    ("make tables report", "write the tables, the figures and this page from the committed runs"),
    ("make verify", "recompute every verdict and compare it with the committed ones"),
)


def write_report(
    runs: Runs, answers: Sequence[Answer], printed: Printed, folder: Path, params: str = ""
) -> Path:
    """Write ``report.html``: one file that loads nothing; see ``render``."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "report.html"
    beside = path.with_suffix(".part")
    beside.write_text(render(runs, answers, printed, params), encoding="utf-8")
    beside.replace(path)
    return path


def render(runs: Runs, answers: Sequence[Answer], printed: Printed, params: str = "") -> str:
    """The page as text. Trees are those of the same store: an own report shows no committed ones.

    Parameters
    ----------
    params : where tuned hyperparameters come from, for the commands that repeat a cell.
    """
    tables: dict[str, dict[str, Any]] = {}
    sections = [_section(a, runs, tables) for a in answers if a.question != TABLES]
    groups = _table_groups(answers, runs, tables)
    datasets = _datasets(runs, printed)
    data = {
        "tables": tables,
        "datasets": {each["slug"]: each.pop("trees") for each in datasets},
        "glyphs": {outcome: glyph for outcome, (glyph, _) in OUTCOMES.items()},
        "verdicts": IN_WORDS,
        "options": f" --params {params}" if params else "",
        "overview": groups[0]["tables"][0] if groups else {},
    }
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    done = runs.frame[runs.frame["status"] != ""].drop_duplicates("key")
    return environment.get_template("page.html").render(
        name=NAME,
        css=_asset("page.css"),
        script=_asset("page.js") + _asset("tree.js"),
        data=Markup(
            json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        ),
        lead=[section for section in sections if section["slug"] in LEAD],
        sections=sections,
        about_tables=_sentences(answers, TABLES),
        groups=groups,
        outcomes=OUTCOMES,
        verdict_names=IN_WORDS,
        verdicts=_verdicts(answers),
        datasets=datasets,
        failures=_failures(done, runs),
        failed=Counter(done.loc[done["status"] != "ok", "status"]),
        commands=COMMANDS,
        environments=_environments(done, runs),
        runs=len(done),
        planned=runs.frame["key"].nunique(),
        hours=done["cpu_seconds"].sum() / 3600,
    )


def _asset(name: str) -> Markup:
    return Markup((HERE / name).read_text(encoding="utf-8"))


def inline_markdown(text: str) -> Markup:
    """A sentence as HTML: tags in it are shown as text, pictures are not loaded."""
    return Markup(MarkdownIt("commonmark", {"html": False}).disable("image").renderInline(text))


def _sentences(answers: Sequence[Answer], question: str) -> list[Markup]:
    found = next((answer for answer in answers if answer.question == question), None)
    return [inline_markdown(sentence) for sentence in found.sentences] if found else []


def _beside_paper(table: Table | Grid) -> bool:
    return isinstance(table, Grid) and "verdict" in table.frame


def _section(answer: Answer, runs: Runs, tables: dict[str, dict[str, Any]]) -> dict[str, Any]:
    shown = [table for table in answer.tables if table.name in answer.shown]
    return {
        "slug": answer.question,
        "title": answer.title,
        "first": inline_markdown(answer.sentences[0]) if answer.sentences else "",
        "more": [inline_markdown(sentence) for sentence in answer.sentences[1:]],
        "figures": [
            {
                "svg": Markup(inline_svg(figure.draw(), figure.name, figure.caption)),
                "caption": figure.caption,
            }
            for figure in answer.figures
        ],
        "tables": [_folded(t, runs, tables) for t in shown if not _beside_paper(t)],
    }


def _table_groups(
    answers: Sequence[Answer], runs: Runs, tables: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """All dataset x method tables that no section shows, and the summaries of them.

    Those beside the paper's numbers come first; the others, by protocol, are one fold each.
    """
    groups: dict[str, list[dict[str, Any]]] = {}
    for answer in answers:
        for table in answer.tables:
            if isinstance(table, Grid) and table.frame["mean"].isna().all():
                continue  # nothing of it has been run
            if _beside_paper(table):
                title = ""
            elif isinstance(table, Grid) and not (
                answer.question != TABLES and table.name in answer.shown
            ):
                title = f"More tables of datasets and learners, protocol {table.protocol}"
            elif answer.question == TABLES and table.name in answer.shown:
                title = "Summaries and facts"
            else:
                continue
            groups.setdefault(title, []).append(_folded(table, runs, tables))
    order = sorted(groups, key=lambda title: (title != "", title.startswith("More")))
    return [{"title": title, "tables": groups[title]} for title in order]


def _folded(table: Table | Grid, runs: Runs, tables: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What stands on the fold of a table; its content goes to ``tables``."""
    slug = "-".join(part for part in (table.name, table.protocol) if part)
    if slug not in tables:
        tables[slug] = (
            grid_data(table, runs) if isinstance(table, Grid) else table_data(table, runs)
        )
    return {
        "slug": slug,
        "title": table.title,
        "caption": table.caption,
        "protocol": table.protocol,
        "notes": getattr(table, "notes", ()),
        "grid": isinstance(table, Grid),
        "paper": _beside_paper(table),
    }


def _verdicts(answers: Sequence[Answer]) -> list[tuple[str, int]]:
    """How many printed numbers have which verdict, where that has been counted."""
    counts: Mapping[str, int] = next(
        (answer.extra["counts"] for answer in answers if "counts" in answer.extra), {}
    )
    return [(outcome, counts[outcome]) for outcome in OUTCOMES if counts.get(outcome)]


def _datasets(runs: Runs, printed: Printed) -> list[dict[str, Any]]:
    """The datasets that have been run: the paper's in its order, then the others by name."""
    order = list(printed.datasets["slug"])
    others = sorted(set(runs.datasets) - set(order), key=runs.name)
    folder = trees_folder(runs.store)
    used = set(runs.frame.loc[runs.frame["status"] != "", "dataset"])
    found = []
    for slug in [slug for slug in [*order, *others] if slug in used]:
        facts = runs.datasets.get(slug, {})
        counts = facts.get("class_counts", [])
        found.append(
            {
                "slug": slug,
                "name": runs.name(slug),
                "rows": facts.get("n_rows", 0),
                "features": facts.get("n_features", 0),
                "classes": " / ".join(f"{count:,}" for count in counts) if len(counts) == 2 else "",
                "n_classes": len(counts),
                "trees": [tree_data(entry, runs, slug) for entry in read_trees(folder, slug)],
            }
        )
    return found


def trees_folder(store: Path) -> Path:
    """Where the trees of a store are: beside the committed runs, else inside the store."""
    committed = store.resolve() == archive.COMMITTED.resolve()
    return (store.parent if committed else store) / FOLDER


def _failures(done: pd.DataFrame, runs: Runs) -> list[dict[str, Any]]:
    """Runs without a score, one line per learner and reason; what went wrong before skips."""
    failed = done[done["status"] != "ok"]
    lines = []
    for (method, status, reason), some in failed.groupby(["method", "status", "reason"]):
        texts = [*some["traceback"], *some["log_tail"]]
        lines.append(
            {
                "method": runs.name(str(method)),
                "status": status,
                "reason": reason,
                "count": len(some),
                "where": ", ".join(sorted(map(runs.name, some["dataset"].unique()))),
                "log": next((text for text in texts if text), ""),
            }
        )
    return sorted(lines, key=lambda line: (line["status"] == "skipped", -line["count"]))


def _environments(done: pd.DataFrame, runs: Runs) -> list[dict[str, Any]]:
    counts = done.loc[done["environment"] != "", "environment"].value_counts()
    return [
        {
            "runs": count,
            "machine": _listed(facts, "machine"),
            "versions": _listed(facts, "versions"),
        }
        for name, count in counts.items()
        if (facts := runs.environments.get(str(name)))
    ]


def _listed(facts: Mapping[str, Any], part: str) -> str:
    return ", ".join(f"{name} {value}" for name, value in facts.get(part, {}).items())
