"""Everything that follows from a store of run records: tables, verdicts, claims.

``findings_of`` is a pure function of jobs, records and the paper's numbers;
``findings_in`` gives it what a store, the catalogue and the dataset records hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.analysis.cells import Results, collect
from experiments.analysis.claims import check_claims
from experiments.analysis.judging import judge
from experiments.analysis.model import Claim, Verdict
from experiments.analysis.paper import Paper, load_paper
from experiments.analysis.paper_sheets import Spec
from experiments.analysis.settings import EXPERIMENT as SEARCHED
from experiments.analysis.settings import Searched
from experiments.analysis.table_set import Book, our_book, paper_book
from experiments.core.job import Job
from experiments.core.record import RunRecord

if TYPE_CHECKING:
    from experiments.runner.catalogue import Setting


PROTOCOLS = ("paper", "clean")


@dataclass(frozen=True)
class Findings:
    """What came out, whether it is the paper's, and what it means.

    Attributes
    ----------
    books : protocol -> tables; ``paper`` always, others where they have records.
    printed : the paper's own tables.
    verdicts, claims : of protocol ``paper`` against the paper.
    clean_claims : the same claims under protocol ``clean``; empty without records of it.
    categorical : datasets with categorical columns.
    """

    paper: Paper
    results: Results
    books: Mapping[str, Book]
    printed: Book
    verdicts: tuple[Verdict, ...]
    claims: tuple[Claim, ...]
    clean_claims: tuple[Claim, ...]
    categorical: frozenset[str]


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
    books = {
        protocol: our_book(results, numbers, protocol, winners.get(protocol), specs)
        for protocol in PROTOCOLS
        if protocol == "paper" or results.has_records(protocol)
    }
    printed = paper_book(numbers)
    return Findings(
        paper=numbers,
        results=results,
        books=books,
        printed=printed,
        verdicts=tuple(judge(books["paper"].tables, printed.tables, numbers)),
        claims=tuple(check_claims(books["paper"], printed, numbers)),
        clean_claims=tuple(
            check_claims(books["clean"], printed, numbers) if "clean" in books else ()
        ),
        categorical=frozenset(slug for slug, spec in specs.items() if spec.categorical),
    )


def findings_in(store: Path, setting: Setting | None = None) -> Findings:
    """The same from a folder of records, over all jobs of the catalogue.

    Parameters
    ----------
    setting : ``ours`` takes the tuned experiment with the hyperparameters of our search.
    """
    import datasets
    from experiments.core.store import Store
    from experiments.runner.catalogue import EXPERIMENTS, jobs_of

    jobs: list[Job] = []
    for protocol in PROTOCOLS:
        for experiment in EXPERIMENTS:
            if experiment == "tuned" and setting == "ours":
                jobs += jobs_of("tuned", protocol, methods=["dl85"])  # there is nothing to search
                jobs += _jobs_with_our_params(protocol)
            else:
                jobs += jobs_of(experiment, protocol)
        if setting != "ours":
            jobs += [replace(job, experiment=SEARCHED) for job in _jobs_with_our_params(protocol)]
    registry: dict[str, Spec] = {slug: datasets.record(slug) for slug in datasets.names()}
    return findings_of(jobs, Store(store).latest(), registry, _searched())


def _jobs_with_our_params(protocol: str) -> list[Job]:
    """The tuned experiment where a search has been finished."""
    from experiments.core.winners import read_winners
    from experiments.runner.catalogue import jobs_of

    return [
        job
        for winner in read_winners()
        if winner.protocol == protocol
        for job in jobs_of("tuned", protocol, [winner.dataset], [winner.method], setting="ours")
    ]


def _searched() -> dict[str, dict[str, dict[str, dict[str, Any]]]]:
    """What our searches found, with the score that made it win."""
    from experiments.core.winners import read_winners

    found: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}
    for winner in read_winners():
        methods = found.setdefault(winner.protocol, {})
        params = {**winner.params, "cross-validated F1": winner.score}
        methods.setdefault(winner.method, {})[winner.dataset] = params
    return found
