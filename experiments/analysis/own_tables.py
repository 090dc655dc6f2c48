"""Tables without a printed counterpart: those declared in TOML, and those of whatever else ran.

``own_tables.toml`` says what a declaration holds; a user's own file has the same form.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from experiments.analysis.cells import Results
from experiments.analysis.model import Table
from experiments.analysis.other_tables import (
    Classes,
    Value,
    column_of,
    metric_value,
    other_tables,
    score_table,
)
from experiments.analysis.paper import Paper
from experiments.core.checks import UserError
from experiments.core.planned import DatasetFacts, LearnerFacts
from experiments.core.record import SCORES

DECLARATIONS = Path(__file__).with_name("own_tables.toml")
MEASURES = (*SCORES, "wall_seconds", "cpu_seconds", "peak_memory_mb")


@dataclass(frozen=True)
class Declared:
    """One table as declared; see ``own_tables.toml`` for the fields."""

    name: str
    title: str
    experiment: str
    measure: str = ""
    metric: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    methods: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    smaller_is_better: bool = False
    decimals: int = 3

    def value(self, classes: Classes) -> Value:
        """What a record gives to a cell."""
        if self.metric:
            return metric_value(self.metric, self.options, classes)
        return lambda record: getattr(record, self.measure)


def read_declared(path: Path) -> list[Declared]:
    """The tables that a file declares; whatever is not understood is refused with a sentence."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise UserError(f"{path} cannot be read as tables: {problem}") from None
    entries = content.pop("table", [])
    if content or not isinstance(entries, list):
        raise UserError(f"{path} should hold [[table]] entries alone, not {sorted(content)}")
    return [_declared(entry, path) for entry in entries]


def _declared(entry: Mapping[str, Any], path: Path) -> Declared:
    known = [each.name for each in fields(Declared)]
    name = entry.get("name", "without a name")
    if unknown := sorted(set(entry) - set(known)):
        raise UserError(f"{path}: table {name}: unknown {unknown[0]!r}; known: {', '.join(known)}")
    if missing := [key for key in ("name", "title", "experiment") if not entry.get(key)]:
        raise UserError(f"{path}: table {name} lacks {missing[0]!r}")
    if bool(entry.get("measure")) == bool(entry.get("metric")):
        raise UserError(f"{path}: table {name} needs either a measure or a metric")
    if entry.get("measure", MEASURES[0]) not in MEASURES:
        raise UserError(
            f"{path}: table {name}: records have no {entry['measure']!r}; "
            f"they have {', '.join(MEASURES)}"
        )
    lists = {key: tuple(entry[key]) for key in ("methods", "protocols") if key in entry}
    return Declared(**{**entry, **lists})


def own_tables(
    results: Results,
    paper: Paper,
    datasets: Mapping[str, DatasetFacts],
    learners: Mapping[str, LearnerFacts],
    classes: Classes,
    more: Iterable[Path] = (),
) -> list[Table]:
    """Declared tables first, then those of datasets and learners that the paper lacks.

    Parameters
    ----------
    classes : truth and predictions of a record, where they are kept.
    more : files of further declarations.
    """
    declared = [each for path in (DECLARATIONS, *more) for each in read_declared(path)]
    protocols = list(dict.fromkeys(place[0] for place in results.attempts))
    tables = [
        table
        for each in declared
        for table in _filled(each, protocols, results, datasets, learners, classes)
    ]
    for protocol in protocols:
        tables += other_tables(results, paper, protocol, datasets, learners)
    return tables


def _filled(
    declared: Declared,
    protocols: Iterable[str],
    results: Results,
    datasets: Mapping[str, DatasetFacts],
    learners: Mapping[str, LearnerFacts],
    classes: Classes,
) -> Iterator[Table]:
    for protocol in protocols:
        if declared.protocols and protocol not in declared.protocols:
            continue
        source = (protocol, declared.experiment)
        places = [place for place in results.attempts if place[:2] == source]
        methods = declared.methods or tuple(dict.fromkeys(place[3] for place in places))
        shown = {place[2] for place in places if place[3] in methods}
        table = score_table(
            name=declared.name,
            title=declared.title,
            source=source,
            value=declared.value(classes),
            results=results,
            rows=[facts for slug, facts in datasets.items() if slug in shown],
            columns=[column_of(slug, learners) for slug in methods],
            smaller_is_better=declared.smaller_is_better,
            decimals=declared.decimals,
        )
        if table.has_results:
            yield table
