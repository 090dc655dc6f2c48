"""Tables without a printed counterpart: declared in TOML, of whatever else ran, of any metric.

Rows and columns come from the store's plan and facts, so that a new dataset or
learner of a plug-in gets its tables without a line in the suite.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from experiments.analysis import ranking
from experiments.analysis.grids import Results, summarise
from experiments.analysis.model import TASKS, Block, Column, Row, Summary, Table
from experiments.analysis.paper import Paper, method_name, methods
from experiments.core.checks import UserError
from experiments.core.planned import DatasetFacts, LearnerFacts
from experiments.core.record import SCORES, RunRecord

Value = Callable[[RunRecord], float | None]
Classes = Callable[[RunRecord], tuple[Any, Any] | None]
"""Truth and predictions of a record, where they are kept."""
SHOWN: tuple[tuple[str, str, int], ...] = (
    ("test_f1", "Test F1", 3),
    ("tree_size", "Tree size", 2),
)
"""Field of the record, title, decimals."""
SMALLER_IS_BETTER = ("tree_size",)
SEPARATE = ("seeds", "runtime", "quirks", "firmness", "defaults")
"""Experiments whose attempts are no trials of one cell, or which have tables of their own."""


def other_tables(
    results: Results,
    paper: Paper,
    protocol: str,
    datasets: Mapping[str, DatasetFacts],
    learners: Mapping[str, LearnerFacts],
) -> list[Table]:
    """Test F1 and size of every experiment with a dataset or learner that the paper lacks.

    A new dataset has all learners that were run on it beside one another; a new
    learner has the others on the datasets on which it was run.
    """
    printed = {dataset.slug for dataset in paper.datasets}
    tables = []
    for experiment in dict.fromkeys(place[1] for place in results.attempts if place[0] == protocol):
        places = [
            (dataset, method)
            for p, e, dataset, method in results.attempts
            if (p, e) == (protocol, experiment) and experiment not in SEPARATE
        ]
        new = [pair for pair in places if pair[0] not in printed or pair[1] not in methods()]
        if not new:
            continue
        rows = [slug for slug in datasets if slug in {dataset for dataset, _ in new}]
        columns = list(dict.fromkeys(method for dataset, method in places if dataset in rows))
        for measure, title, decimals in SHOWN:
            table = score_table(
                name=f"others-{experiment}-{measure.replace('_', '-')}",
                title=f"{title}, {experiment}, beyond the paper",
                source=(protocol, experiment),
                value=_field(measure),
                results=results,
                rows=[datasets[slug] for slug in rows],
                columns=[column_of(slug, learners) for slug in columns],
                smaller_is_better=measure in SMALLER_IS_BETTER,
                decimals=decimals,
            )
            if table.has_results:
                tables.append(table)
    return tables


def score_table(
    name: str,
    title: str,
    source: tuple[str, str],
    value: Value,
    results: Results,
    rows: Sequence[DatasetFacts],
    columns: Sequence[Column],
    smaller_is_better: bool = False,
    decimals: int = 3,
) -> Table:
    """A dataset x learner grid of any number that a record gives.

    Parameters
    ----------
    source : protocol and experiment.
    value : what is averaged over trials; ``None`` for a record that has no such number.
    """
    protocol, experiment = source
    blocks = []
    for task in TASKS:
        found = []
        for facts in rows:
            if facts.task == task:
                cells = tuple(
                    summarise(
                        results.attempts.get((protocol, experiment, facts.slug, c.method), ()),
                        value,
                    )
                    for c in columns
                )
                ranks = ranking.bracket_ranks(cells, smaller_is_better)
                found.append(Row(facts.slug, facts.name, cells, ranks))
        cells_by_row = [row.cells for row in found]
        summaries = (
            Summary(
                "Mean",
                tuple(ranking.mean_over_datasets(cells_by_row, smaller_is_better)),
                smaller_is_better,
                decimals,
            ),
            Summary("MRR", tuple(ranking.mean_reciprocal_rank(cells_by_row, smaller_is_better))),
        )
        if found:
            blocks.append(Block(task, tuple(found), summaries))
    trials = max((cell.expected for b in blocks for row in b.rows for cell in row.cells), default=0)
    return Table(
        name=name,
        title=title,
        caption=title,
        measure="test_f1",
        experiment=experiment,
        source=protocol,
        columns=tuple(columns),
        blocks=tuple(blocks),
        smaller_is_better=smaller_is_better,
        decimals=decimals,
        std_decimals=decimals,
        trials=trials,
    )


def _field(name: str) -> Value:
    return lambda record: getattr(record, name)


def column_of(slug: str, learners: Mapping[str, LearnerFacts]) -> Column:
    known = learners.get(slug)
    return Column(slug, method_name(slug) if slug in methods() or known is None else known.name)


def metric_value(metric: str, options: Mapping[str, Any], classes: Classes) -> Value:
    """A label metric of scikit-learn as a number that a record gives."""
    from sklearn import metrics

    score = getattr(metrics, metric)

    def value(record: RunRecord) -> float | None:
        both = classes(record)
        return None if both is None else float(score(*both, **options))

    return value


def metric_table(
    metric: str,
    options: Mapping[str, Any],
    source: tuple[str, str],
    classes: Classes,
    results: Results,
    datasets: Mapping[str, DatasetFacts],
    learners: Mapping[str, LearnerFacts],
) -> Table:
    """Any label metric of scikit-learn over stored predictions, without a fit.

    Parameters
    ----------
    metric : name of a function of ``sklearn.metrics`` of truth and predicted labels.
    options : its keyword arguments.
    classes : truth and predictions of a record, where they are kept.
    """
    protocol, experiment = source
    spelled = ", ".join([metric, *(f"{name}={given}" for name, given in options.items())])
    wanted = Declared(
        name=f"{metric.replace('_', '-')}-{experiment}",
        title=f"{spelled}, {experiment}",
        experiment=experiment,
        metric=metric,
        options=options,
    )
    return _fill(wanted, protocol, results, datasets, learners, classes)


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
        return _field(self.measure)


def read_declared(path: Path) -> list[Declared]:
    """The tables that a file declares; whatever is not understood is refused with a sentence."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise UserError(f"{path} cannot be read as tables: {problem}") from None
    entries = content.pop("table", [])
    if content or not isinstance(entries, list):
        raise UserError(f"{path} may only hold [[table]] entries, not {sorted(content)}")
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
        for protocol in protocols
        if not each.protocols or protocol in each.protocols
        if (table := _fill(each, protocol, results, datasets, learners, classes)).has_results
    ]
    for protocol in protocols:
        tables += other_tables(results, paper, protocol, datasets, learners)
    return tables


def _fill(
    declared: Declared,
    protocol: str,
    results: Results,
    datasets: Mapping[str, DatasetFacts],
    learners: Mapping[str, LearnerFacts],
    classes: Classes,
) -> Table:
    source = (protocol, declared.experiment)
    places = [place for place in results.attempts if place[:2] == source]
    methods = declared.methods or tuple(dict.fromkeys(place[3] for place in places))
    shown = {place[2] for place in places if place[3] in methods}
    return score_table(
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
