"""What searches have come to: tables of scores, winners, and how far the others are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from experiments.core.job import Job
from experiments.core.record import RunRecord, Status
from experiments.core.searched import (
    Scored,
    SearchScores,
    Winner,
    all_scores,
    read_scores,
    write_scores,
)
from experiments.runner.candidates import FOLDS, candidate, candidate_job, published_choice
from experiments.search.study import Campaign, SamplerName, Subject


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
    """The winner of one study if it is finished, and how many trials are missing."""
    campaign = Campaign(subject, sampler, trials, seed)
    if sampler == "random":
        missing = campaign.skip_missing(records)
    else:
        campaign.advance(records)
        missing = trials - campaign.told
    best = campaign.best()
    if missing or best is None or best.value is None:
        return None, missing
    scored = [trial for trial in campaign.study.trials if trial.state.name != "FAIL"]
    winner = Winner(
        protocol=subject.protocol,
        dataset=subject.dataset,
        method=subject.method,
        sampler=sampler,
        trials=trials,
        failed=trials - len(scored),
        number=best.number,
        score=best.value,
        params=dict(best.params),
        published=published_choice(subject.protocol, subject.dataset, subject.method),
    )
    return winner, 0


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
