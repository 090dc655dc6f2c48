"""Everything that follows from a store of run records: tables, verdicts, claims.

``findings_of`` is a pure function of jobs, records and the paper's numbers;
``findings_in`` gives it what a store holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from experiments.analysis.claims import check_claims
from experiments.analysis.duels import Duel, SelectorDuel, duels, selector_duels
from experiments.analysis.grids import Results, collect
from experiments.analysis.judging import judge
from experiments.analysis.model import Claim, Sheet, Table, Verdict
from experiments.analysis.own_tables import own_tables
from experiments.analysis.paper import Paper, beyond_grids, grids, load_paper, methods
from experiments.analysis.quirks import EXPERIMENT as QUIRKS
from experiments.analysis.quirks import QuirkEffect, QuirkOrder, quirk_effects, quirk_orders
from experiments.analysis.revised import EXPERIMENT as DEFAULTS
from experiments.analysis.revised import Worth, worths
from experiments.analysis.sensitivity import EXPERIMENT as FIRMNESS
from experiments.analysis.sensitivity import Firmness, firmness, firmness_sheet, marked
from experiments.analysis.settings import BUDGETS, CANDIDATES, SCORE, SEARCHED, Searched
from experiments.analysis.small_trees import SmallTrees, compare
from experiments.analysis.summaries import Spec
from experiments.analysis.table_set import TableSet, our_table_set, paper_table_set
from experiments.core.job import Job
from experiments.core.planned import (
    DatasetFacts,
    read_datasets,
    read_learners,
    read_plan,
    superseded,
)
from experiments.core.predictions import classes
from experiments.core.record import RunRecord
from experiments.core.searched import Winner, winners_for
from experiments.core.store import COMMITTED, Store, resolve

PROTOCOLS = ("paper", "clean")
EXPERIMENTS = (
    "tuned",
    "default",
    "ablation-tuned",
    "ablation-default",
    "no-penalty",
    "solvers",
    "runtime",
    "seeds",
    *(f"best-of-{budget}" for budget in BUDGETS),
    SEARCHED,
    QUIRKS,
    FIRMNESS,
    DEFAULTS,
)
"""In the order of their tables; others follow by name."""
Setting = Literal["published", "ours"]


@dataclass(frozen=True)
class Findings:
    """What came out, whether it is the paper's, and what it means.

    Attributes
    ----------
    table_sets : protocol -> tables; ``paper`` always, others where they have records.
    printed : the paper's own tables.
    verdicts, claims : of protocol ``paper`` against the paper.
    clean_claims : the same claims under protocol ``clean``; empty without records of it.
    categorical : datasets with categorical columns.
    duels : GradTree against CART, everywhere.
    selectors : ST entmax against ST Gumbel-softmax under protocol ``paper``.
    quirks, quirk_orders : what each quirk of protocol ``paper`` does to scores and order.
    revised : GradTree's own defaults, and what each of their main choices is worth.
    firmness : per tuned GradTree cell, the trials that a rounding does not move.
    small_trees : learners of one small tree.
    """

    paper: Paper
    results: Results
    table_sets: Mapping[str, TableSet]
    printed: TableSet
    verdicts: tuple[Verdict, ...]
    claims: tuple[Claim, ...]
    clean_claims: tuple[Claim, ...]
    categorical: frozenset[str]
    others: tuple[Table, ...] = ()
    """Tables that the paper lacks, declared or of other datasets and learners, of all protocols."""
    problems: tuple[str, ...] = ()
    """Lines of the store that were set aside."""
    datasets: Mapping[str, DatasetFacts] = field(default_factory=dict)
    """Names and shapes of all datasets, those that the paper lacks included."""
    superseded: Mapping[str, Sequence[RunRecord]] = field(default_factory=dict)
    """Records that the plan no longer asks for, by the reason why."""
    duels: tuple[Duel, ...] = ()
    selectors: tuple[SelectorDuel, ...] = ()
    quirks: tuple[QuirkEffect, ...] = ()
    quirk_orders: tuple[QuirkOrder, ...] = ()
    revised: tuple[Worth, ...] = ()
    firmness: tuple[Firmness, ...] = ()
    small_trees: SmallTrees = field(default_factory=SmallTrees)


def findings_of(
    jobs: Iterable[Job],
    records: Mapping[str, RunRecord],
    registry: Mapping[str, Spec] | None = None,
    searched: Mapping[str, Searched] | None = None,
    paper: Paper | None = None,
) -> Findings:
    """Tables, verdicts and claims from jobs and the records under their keys.

    Parameters
    ----------
    registry : dataset -> its record, for the table of datasets as loaded.
    searched : protocol -> method -> dataset -> hyperparameters our search found.
    """
    numbers = paper or load_paper()
    specs, winners = registry or {}, searched or {}
    results = collect(jobs, records)
    table_sets = {
        protocol: our_table_set(results, numbers, protocol, winners.get(protocol), specs)
        for protocol in _with_tables(results)
    }
    firm = firmness(results, records.values(), numbers)
    ours = table_sets["paper"]
    table_sets["paper"] = replace(
        ours,
        tables=marked(ours.tables, firm),
        sheets={**ours.sheets, **_sheets_of([firmness_sheet(firm, numbers, "paper")])},
    )
    printed = paper_table_set(numbers)
    return Findings(
        paper=numbers,
        results=results,
        table_sets=table_sets,
        printed=printed,
        verdicts=tuple(judge(table_sets["paper"].tables, printed.tables, numbers)),
        claims=tuple(check_claims(table_sets["paper"], printed, numbers)),
        clean_claims=tuple(
            check_claims(table_sets["clean"], printed, numbers) if "clean" in table_sets else ()
        ),
        categorical=frozenset(slug for slug, spec in specs.items() if spec.categorical),
        duels=tuple(duels(results, numbers)),
        selectors=tuple(selector_duels(table_sets["paper"].tables)),
        quirks=tuple(quirk_effects(results, numbers)),
        quirk_orders=tuple(quirk_orders(results, numbers)),
        revised=tuple(worths(results, numbers)),
        firmness=tuple(firm),
    )


def _sheets_of(sheets: Iterable[Sheet]) -> dict[str, Sheet]:
    return {sheet.name: sheet for sheet in sheets if sheet.rows}


def findings_in(
    store: Path, setting: Setting | None = None, more_tables: Sequence[Path] = ()
) -> Findings:
    """The same from a folder of records: its plan, its records, its facts.

    Parameters
    ----------
    setting : ``ours`` takes the tuned experiment with the hyperparameters of our search.
    more_tables : files that declare tables, like ``own_tables.toml``.
    """
    contents = Store(store).contents()
    plan = read_plan(store)
    records = resolve(contents.history)
    numbers = load_paper()
    jobs = in_order(plan, setting, numbers)
    datasets = {**read_datasets(COMMITTED), **read_datasets(store)}
    found = findings_of(jobs, records, datasets, _searched(winners_for(store)), numbers)
    return replace(
        found,
        others=tuple(
            own_tables(
                found.results,
                numbers,
                datasets,
                read_learners(store),
                partial(classes, store),
                more_tables,
            )
        ),
        duels=tuple(
            replace(each, setting=SEARCHED)
            if setting == "ours" and each.setting == "tuned"
            else each
            for each in found.duels
        ),
        problems=tuple(contents.problems),
        datasets=datasets,
        superseded=superseded(plan, records.values()),
        small_trees=compare(found.results, datasets),
    )


def _with_tables(results: Results) -> list[str]:
    """The paper's protocol, and whatever others have records of an experiment that has tables."""
    experiments = {grid.experiment for grid in (*grids().values(), *beyond_grids().values())}
    found = {
        place[0]
        for place, attempts in results.attempts.items()
        if place[1] in experiments and any(attempt.record is not None for attempt in attempts)
    }
    return [PROTOCOLS[0], *sorted(found - {PROTOCOLS[0]}, key=lambda name: (name != "clean", name))]


def _as_tuned(jobs: Iterable[Job], setting: Setting | None) -> list[Job]:
    """With ``ours``, what our search found takes the place of the published hyperparameters.

    DL8.5 has none to search and stays.
    """
    if setting != "ours":
        return list(jobs)
    return [
        replace(job, experiment="tuned") if job.experiment == SEARCHED else job
        for job in jobs
        if job.experiment != "tuned" or job.method == "dl85"
    ]


def in_order(jobs: Iterable[Job], setting: Setting | None, paper: Paper) -> list[Job]:
    """Table by table, row by row, whatever order the jobs were planned in."""
    order = {
        **{name: at for at, name in enumerate((*PROTOCOLS, *EXPERIMENTS))},
        **{dataset.slug: at for at, dataset in enumerate(paper.datasets)},
        **{method: at for at, method in enumerate(methods())},
    }

    def place(job: Job) -> tuple[Any, ...]:
        names = (job.protocol, job.experiment, job.seed, job.dataset, job.method, job.trial)
        return tuple((order.get(n, len(order)), n) if isinstance(n, str) else (n,) for n in names)

    return sorted(_as_tuned(jobs, setting), key=place)


def _searched(winners: Iterable[Winner]) -> dict[str, dict[str, dict[str, dict[str, Any]]]]:
    """What our searches found, with the score that made it win."""
    found: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}
    for winner in winners:
        methods = found.setdefault(winner.protocol, {})
        params = {**winner.params, SCORE: winner.score, CANDIDATES: winner.trials}
        methods.setdefault(winner.method, {})[winner.dataset] = params
    return found
