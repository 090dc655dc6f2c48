"""What searches have come to: tables of scores, winners, and how far the others are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from experiments.core.job import Job
from experiments.core.record import RunRecord, Status
from experiments.core.searched import (
    SamplerName,
    Scored,
    SearchScores,
    Subject,
    Winner,
    all_scores,
    read_scores,
    write_scores,
)
from experiments.runner.candidates import FOLDS, candidate, candidate_job, published_choice


def known_candidates(folder: Path, subjects: Iterable[Subject], seed: int) -> dict[str, RunRecord]:
    """What tables of scores know, as the records from which they were made."""
    found: dict[str, RunRecord] = {}
    for subject in subjects:
        scores = read_scores(folder, subject.protocol, subject.dataset)
        for number, one in scores.methods.get(subject.method, {}).items():
            job = _job(subject, number, seed)
            if job.key not in found or one.seconds is not None:
                status: Status = one.status  # type: ignore[assignment]
                found[job.key] = RunRecord.of(
                    job, status, valid_f1=one.score, cpu_seconds=one.seconds
                )
    return found


def timed_candidates(folder: Path) -> Iterator[RunRecord]:
    """What every candidate in a folder of tables took: enough to estimate others by."""
    for scores in all_scores(folder):
        for method, column in scores.methods.items():
            for number, one in column.items():
                if one.seconds is not None:
                    yield RunRecord(
                        key="",
                        protocol=scores.protocol,
                        dataset=scores.dataset,
                        method=method,
                        params={},
                        trial=number,
                        seed=0,
                        status="ok",
                        cpu_seconds=one.seconds,
                        evaluation=f"cv:{FOLDS}",
                    )


def keep_scores(
    folder: Path,
    subjects: Iterable[Subject],
    trials: int,
    seed: int,
    records: Mapping[str, RunRecord],
) -> None:
    """Bring the tables of scores up to date with records."""
    tables: dict[tuple[str, str], SearchScores] = {}
    for subject in subjects:
        place = (subject.protocol, subject.dataset)
        table = tables.setdefault(place, read_scores(folder, *place))
        column = table.methods.setdefault(subject.method, {})
        timed: set[str] = set()
        for number in range(trials):
            job = _job(subject, number, seed)
            record = records.get(job.key)
            if record is not None:
                seconds = None if job.key in timed else record.cpu_seconds
                column[number] = Scored(record.valid_f1, record.status, seconds)
                timed.add(job.key)
        if not column:
            del table.methods[subject.method]
    for table in tables.values():
        if table.methods:
            write_scores(folder, table)


def _job(subject: Subject, number: int, seed: int) -> Job:
    drawn = candidate(subject.dataset, subject.method, number, seed)
    return candidate_job(subject.protocol, subject.dataset, subject.method, drawn)


def winner_of(
    subject: Subject,
    sampler: SamplerName,
    trials: int,
    seed: int,
    records: Mapping[str, RunRecord],
) -> tuple[Winner | None, int]:
    """The winner of one search if it is finished, and how many trials are missing."""
    find = _best_of_random if sampler == "random" else _best_of_study
    best, failed, missing = find(subject, trials, seed, records)
    if missing or best is None:
        return None, missing
    winner = Winner(
        protocol=subject.protocol,
        dataset=subject.dataset,
        method=subject.method,
        sampler=sampler,
        trials=trials,
        failed=failed,
        number=best.number,
        score=best.score,
        params=best.params,
        published=published_choice(subject.protocol, subject.dataset, subject.method),
    )
    return winner, 0


class _Best(NamedTuple):
    number: int
    score: float
    params: dict[str, Any]


Found = tuple[_Best | None, int, int]
"""The best trial, how many failed, how many are missing."""


def _best_of_random(
    subject: Subject, trials: int, seed: int, records: Mapping[str, RunRecord]
) -> Found:
    """Of equal scores the earliest trial's; trials do not depend on one another."""
    best, failed, missing = None, 0, 0
    for number in range(trials):
        record = records.get(_job(subject, number, seed).key)
        if record is None:
            missing += 1
        elif record.status != "ok" or record.valid_f1 is None:
            failed += 1
        elif best is None or record.valid_f1 > best.score:
            drawn = candidate(subject.dataset, subject.method, number, seed)
            best = _Best(number, record.valid_f1, drawn)
    return best, failed, missing


def _best_of_study(
    subject: Subject, trials: int, seed: int, records: Mapping[str, RunRecord]
) -> Found:
    from experiments.search.study import Campaign

    campaign = Campaign(subject, trials, seed)
    campaign.advance(records)
    best = campaign.best()
    failed = sum(trial.state.name == "FAIL" for trial in campaign.study.trials)
    found = None
    if best is not None and best.value is not None:
        found = _Best(best.number, best.value, dict(best.params))
    return found, failed, trials - campaign.told


def render_winner(winner: Winner) -> str:
    """One winner, with what it has otherwise than the paper."""
    changed = [
        f"{name} {value} (paper: {winner.published.get(name)})"
        for name, value in winner.params.items()
        if winner.published.get(name) != value
    ]
    where = f"{winner.protocol} {winner.dataset} {winner.method}"
    found = ", ".join(changed) or "as published"
    return f"{where}: F1 {winner.score:.4f} in trial {winner.number}, {found}"
