"""All answers: those of the modules here, after the tables that a plug-in asks for.

A question is a function ``(runs, printed) -> Answer | None``; every module lists its own in
``QUESTIONS``, by place in the report. A plug-in's ``TABLES`` are tables in the fields of
``grids.toml``; its ``PRINTED``, numbers of another paper in a CSV (dataset, method, metric, mean,
std, n), are judged like those of the GradTree paper.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.analysis.answer import Answer, Declared, Grid, Table
from experiments.analysis.grids import check, declare, has_results, own_grid, told_at
from experiments.analysis.pairwise import compare, listed
from experiments.analysis.printed import TRIALS, printed
from experiments.analysis.runs import Runs
from experiments.analysis.verdicts import IN_WORDS, beside, judge, tally
from experiments.errors import UserError, check_fields, check_names
from experiments.runs.schema import BY_NAME

Entries = Mapping[str, Mapping[str, Any]]
NONE: Entries = {}
COLUMNS = ("dataset", "method", "metric", "mean", "std", "n")


@dataclass(frozen=True)
class OtherPaper:
    """An entry of ``PRINTED``; ``trials`` are those behind a number whose n the CSV lacks."""

    title: str
    csv: str | Path
    experiment: str
    protocol: str
    trials: int = TRIALS
    margin: Mapping[str, float] = field(default_factory=dict)


def answers(runs: Runs, tables: Entries = NONE, papers: Entries = NONE) -> list[Answer]:
    """What the runs answer, after a plug-in's tables; a question without runs has no answer."""
    names = [f"{__name__}.{each.name}" for each in pkgutil.iter_modules(__path__)]
    asked = [each for name in names for each in importlib.import_module(name).QUESTIONS.items()]
    found = [own_answer(runs, tables, papers)]
    found += [answer(runs, printed()) for _, answer in sorted(asked, key=lambda each: each[0])]
    return [each for each in found if each is not None]


def own_answer(runs: Runs, tables: Entries, papers: Entries) -> Answer | None:
    """The tables that a plug-in asks for; ``None`` where it asks for none."""
    if not tables and not papers:
        return None
    made, statistics, sentences = list[Grid](), list[Table](), list[str]()
    for name, entry in tables.items():
        given = dict(entry)  # with file and line, where a plug-in left them
        with told_at(given.pop("where", "TABLES")):
            table = declare({"name": name, **given})
            check(table, runs)
        protocols = table.protocols or [p for p, e in runs.places if e == table.experiment]
        found = [own_grid(runs, table, protocol) for protocol in protocols or ["paper"]]
        for grid in filter(has_results, found):
            made.append(grid)
            compared, sayings = compared_with_first(runs, table, grid)
            statistics += compared
            sentences += sayings
        if not any(map(has_results, found)):
            sentences.append(f"{table.title}: nothing of experiment {table.experiment} has run.")
    for name, entry in papers.items():
        given = dict(entry)
        with told_at(f"{given.pop('where', 'PRINTED')}: {name}"):
            check_fields("printed table", OtherPaper, given)
            judged = another_paper(runs, name, OtherPaper(**given))
        made += judged
        cells = pd.concat([each.frame for each in judged])
        counts = tally(cells[cells["paper_mean"].notna()].rename(columns={"verdict": "outcome"}))
        told = [f"{counts[each]} {words}" for each, words in IN_WORDS.items() if counts[each]]
        sentences.append(f"{entry['title']}: of {sum(counts.values())} numbers {listed(told)}.")
    if made:
        sentences.insert(0, f"Tables of this plug-in: {listed([each.title for each in made])}.")
    return Answer("own-tables", "Your tables", sentences, (*made, *statistics))


def compared_with_first(
    runs: Runs, table: Declared, grid: Grid
) -> tuple[list[Table], tuple[str, ...]]:
    """The statistics of a declared table: its learners against the first, and the sentences."""
    if len(grid.methods) < 2:
        return [], ()
    (first, *rest), metric = grid.methods, BY_NAME[table.metric]
    try:
        found = compare(runs, grid.protocol, rest, [first], [metric], table.experiment)
    except UserError as none:
        return [], (f"{table.title}: {str(none).splitlines()[0]}.",)
    (made,) = (each for each in found.tables if isinstance(each, Table))
    place = f"{table.title} (protocol {grid.protocol}): "
    # what some learner lacks is said below the table
    told = tuple(f"{place}{each}" for each in found.sentences if each not in made.notes[1:])
    title = f"{table.title}: {made.title}"
    return [replace(made, name=f"{table.name}-comparison", title=title)], told


def another_paper(runs: Runs, name: str, paper: OtherPaper) -> list[Grid]:
    """One table per metric: ours, the printed numbers beside them, and the verdicts."""
    numbers = read_numbers(Path(paper.csv), paper.trials)
    check_names("dataset", numbers["dataset"].tolist(), runs.datasets)
    check_names("metric", paper.margin, numbers["metric"])
    made = []
    for metric, part in numbers.groupby("metric", sort=False):
        table = Declared(
            name=f"{name}-{str(metric).replace('_', '-')}",
            title=f"{paper.title}: {metric}",
            experiment=paper.experiment,
            metric=str(metric),
            methods=tuple(dict.fromkeys(part["method"])),
            protocols=(paper.protocol,),
            decimals=int(part["mean_digits"].max()),
            std_decimals=int(part["std_digits"].max()),
            margin=paper.margin.get(str(metric)),
        )
        check(table, runs)
        ours = own_grid(runs, table, paper.protocol, part["dataset"].tolist())
        made.append(replace(ours, frame=beside(ours.frame, judge(ours.frame, part, table))))
    return made


def read_numbers(path: Path, trials: int) -> pd.DataFrame:
    """A CSV of printed cells, with the digits they are printed to."""
    try:
        rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as problem:
        raise UserError(f"{path} cannot be read: {problem}") from None
    place = list(COLUMNS[:3])
    if lacking := [column for column in COLUMNS[:4] if column not in rows]:
        raise UserError(f"{path} has no column {lacking[0]!r}")
    if twice := rows.loc[rows.duplicated(place), place].to_numpy().tolist():
        raise UserError(f"{path} has {' '.join(twice[0])} twice")
    rows = rows.reindex(columns=list(COLUMNS), fill_value="")
    for column in ("mean", "std"):
        rows[f"{column}_digits"] = rows[column].str.partition(".")[2].str.len()
    numbers = rows[["mean", "std", "n"]].apply(pd.to_numeric, errors="coerce")
    numbers["n"] = numbers["n"].fillna(trials).where(numbers["mean"].notna(), 0).astype(int)
    missing = rows["mean"].where(numbers["mean"].isna(), "")
    return rows.assign(**numbers, missing=missing)
