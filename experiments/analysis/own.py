"""Tables of a plug-in: its own, and the printed tables of another paper beside ours.

``TABLES`` are tables in the fields of ``grids.toml``. ``PRINTED`` are the numbers of another paper:
a CSV (dataset, method, metric, mean, std, n) with a title, the experiment and protocol of ours to
compare them with, the trials behind a number and the margin of each metric within which two means
are equivalent. They are judged like the numbers of the GradTree paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.analysis.answer import Answer, Declared, Grid
from experiments.analysis.grids import TableError, check, declare, has_results, own_grid
from experiments.analysis.pairwise import listed
from experiments.analysis.printed import TRIALS
from experiments.analysis.runs import Runs
from experiments.analysis.verdicts import OUTCOMES, Rules, judge, tally
from experiments.errors import check_names, did_you_mean

COLUMNS = ("dataset", "method", "metric", "mean", "std", "n")


@dataclass(frozen=True)
class AnotherPaper:
    """Printed numbers of another paper; see the module's text."""

    name: str
    title: str
    csv: Path
    experiment: str
    protocol: str
    trials: int = TRIALS
    margin: Mapping[str, float] = field(default_factory=dict)


def own_answer(
    runs: Runs,
    tables: Mapping[str, Mapping[str, Any]],
    papers: Mapping[str, Mapping[str, Any]],
) -> Answer | None:
    """The tables that a plug-in asks for; ``None`` where it asks for none."""
    made: list[Grid] = []
    sentences = []
    for name, entry in tables.items():
        table = declare({"name": name, **entry}, "TABLES")
        found = own_tables(runs, table)
        made += found
        if not found:
            sentences.append(f"{table.title}: nothing of experiment {table.experiment} has run.")
    for name, entry in papers.items():
        paper = _paper(name, entry)
        judged = another_paper(runs, paper)
        made += judged
        every = pd.concat([each.frame for each in judged])
        counts = tally(every[every["paper_mean"].notna()].rename(columns={"verdict": "outcome"}))
        told = [f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome]]
        sentences.append(f"{paper.title}: of {sum(counts.values())} numbers {listed(told)}.")
    if not tables and not papers:
        return None
    titles = listed([each.title for each in made])
    lead = (f"Tables of this plug-in: {titles}.",) if made else ()
    shown = tuple(each.name for each in made)
    return Answer("own-tables", "Your tables", (*lead, *sentences), tuple(made), shown=shown)


def own_tables(runs: Runs, table: Declared) -> list[Grid]:
    """A declared table under each protocol it names, or all that have runs of its experiment."""
    check(table, runs)
    protocols = table.protocols or [p for p, e in runs.places if e == table.experiment]
    made = [own_grid(runs, table, protocol) for protocol in protocols or ["paper"]]
    return [each for each in made if has_results(each)]


def _paper(name: str, entry: Mapping[str, Any]) -> AnotherPaper:
    known = [each.name for each in fields(AnotherPaper)]
    for key in entry:
        if key not in known:
            meant = did_you_mean(key, known)
            raise TableError(f"PRINTED {name}: unknown field {key!r}; {meant}")
    for key in ("title", "csv", "experiment", "protocol"):
        if not entry.get(key):
            raise TableError(f"PRINTED {name} lacks its {key}")
    return AnotherPaper(**{"name": name, **entry, "csv": Path(entry["csv"])})


def read_numbers(paper: AnotherPaper) -> pd.DataFrame:
    """The CSV as printed cells, with the digits they are printed to."""
    try:
        rows = pd.read_csv(paper.csv, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as problem:
        raise TableError(f"PRINTED {paper.name}: {paper.csv} cannot be read: {problem}") from None
    for column in COLUMNS[:4]:
        if column not in rows:
            raise TableError(f"PRINTED {paper.name}: {paper.csv} has no column {column!r}")
    if len(rows[rows.duplicated(list(COLUMNS[:3]))]):
        twice = " ".join(rows[rows.duplicated(list(COLUMNS[:3]))].iloc[0][list(COLUMNS[:3])])
        raise TableError(f"PRINTED {paper.name}: {paper.csv} has {twice} twice")
    rows = rows.reindex(columns=list(COLUMNS), fill_value="")
    for column in ("mean", "std"):
        rows[f"{column}_digits"] = rows[column].str.partition(".")[2].str.len()
    text = rows["mean"]
    numbers = {name: pd.to_numeric(rows[name], errors="coerce") for name in ("mean", "std", "n")}
    trials = numbers["n"].fillna(paper.trials).where(numbers["mean"].notna(), 0).astype(int)
    missing = text.where(numbers["mean"].isna(), "")
    return rows.assign(mean=numbers["mean"], std=numbers["std"], n=trials, missing=missing)


def another_paper(runs: Runs, paper: AnotherPaper) -> list[Grid]:
    """One table per metric: ours, the printed numbers beside them, and the verdicts."""
    numbers = read_numbers(paper)
    check_names("dataset", numbers["dataset"].tolist(), runs.datasets)
    check_names("metric", paper.margin, numbers["metric"])
    made = []
    for metric, part in numbers.groupby("metric", sort=False):
        digits = int(part["mean_digits"].max())
        table = Declared(
            name=f"{paper.name}-{str(metric).replace('_', '-')}",
            title=f"{paper.title}: {metric}",
            experiment=paper.experiment,
            metric=str(metric),
            methods=tuple(dict.fromkeys(part["method"])),
            protocols=(paper.protocol,),
            decimals=digits,
            std_decimals=int(part["std_digits"].max()),
        )
        check(table, runs)
        ours = own_grid(runs, table, paper.protocol, part["dataset"].tolist())
        margin = paper.margin.get(table.metric)
        rules = Rules(table.metric, digits, table.std_decimals, table.smaller_is_better, margin)
        judged = judge(ours.frame, part, rules).rename(columns={"outcome": "verdict"})
        columns = ["dataset", "method", "paper_mean", "paper_std", "paper_missing", "verdict"]
        frame = ours.frame.merge(judged[columns], on=["dataset", "method"], how="left")
        made.append(replace(ours, frame=frame))
    return made
