"""Which jobs are still to be done, given what a store holds.

A failure is a record but never a result: errors and crashes are tried again
by the next run. Only a job that exceeded a limit is left alone until it is
granted more, or asked for with ``--retry``, because it would end the same way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from experiments.executors.contract import Limits
from experiments.planning import plugins
from experiments.planning.jobs import Job
from experiments.records.record import RunRecord
from experiments.running.perform import NO_DATA, skip_reason

State = Literal["done", "skipped", "limited", "unavailable", "failed", "pending"]
WORTH_TRYING = ("pending", "failed", "unavailable")


def state_of(job: Job, record: RunRecord | None, limits: Limits) -> State:
    """Where a job stands.

    ``limited``: it exceeded the limits it would be given again.
    ``unavailable``: there was no data for it, but there may be by now.
    ``failed``: it ended otherwise than well and is worth another try.
    """
    if record is None:
        return "pending"
    if record.status == "ok":
        return "done"
    if record.status == "skipped":
        if record.reason == NO_DATA:
            return "unavailable"
        return "skipped" if still_skipped(job, record) else "pending"
    granted = {"timeout": limits.seconds, "memory": limits.memory_mb}.get(record.status)
    if granted is not None and record.extra.get("limit", 0) >= granted:
        return "limited"
    return "failed"


def still_skipped(job: Job, record: RunRecord) -> bool:
    """Whether the reason for a skip still holds; a missing library may be there by now."""
    shape = record.extra.get("shape")
    if shape is not None:
        return plugins.learner(job.method).why_not(*shape) == record.reason
    return skip_reason(job) == record.reason


def to_do(
    jobs: Iterable[Job],
    records: Mapping[str, RunRecord],
    limits: Limits,
    retry: Collection[str] | None = None,
) -> list[Job]:
    """The jobs a run has to do; with ``retry``, only those whose record has such a status."""
    if retry is not None:
        return [j for j in jobs if j.key in records and records[j.key].status in retry]
    return [j for j in jobs if state_of(j, records.get(j.key), limits) in WORTH_TRYING]


def shard(jobs: Iterable[Job], index: int, count: int) -> list[Job]:
    """Share ``index`` of ``count`` (from 1): whole groups, dealt out in turn.

    Depends on the jobs alone and not on what is done, so that machines that
    shard the same selection never do the same work.
    """
    if not 1 <= index <= count:
        raise ValueError(f"shard {index}/{count}: the first number must be 1 to {count}")
    dealt: dict[tuple[str, ...], int] = {}
    return [job for job in jobs if dealt.setdefault(job.group, len(dealt)) % count == index - 1]
