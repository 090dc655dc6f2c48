"""The plan of a run: how many jobs are still to be done, and an honest estimate of the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from experiments.core import planned
from experiments.core.job import Job, Limits
from experiments.core.record import RunRecord
from experiments.core.store import COMMITTED, Store
from experiments.core.text import duration, table
from experiments.runner import plugins
from experiments.runner.estimate import (
    OVERHEAD_SECONDS,
    Estimate,
    Estimator,
    busy,
    kernels_compiled,
    speeds,
    starting,
)
from experiments.runner.perform import skip_reason
from experiments.runner.profiles import Profile, profiles, select
from experiments.runner.queue import to_do


def shard(jobs: Iterable[Job], index: int, count: int) -> list[Job]:
    """Share ``index`` of ``count`` (from 1): whole groups, dealt out in turn.

    Depends on the jobs alone and not on what is done, so that machines that
    shard the same selection never do the same work.
    """
    if not 1 <= index <= count:
        raise ValueError(f"shard {index}/{count}: the first number must be 1 to {count}")
    dealt: dict[tuple[str, ...], int] = {}
    return [job for job in jobs if dealt.setdefault(job.group, len(dealt)) % count == index - 1]


MANY_JOBS = 5000
"""A selection as large as the paper's profile: time to mention the shorter ones."""
NOTABLE_SHARE = 0.1
"""Of a time: less is not worth a word."""
SAFE_SHARE = 0.25
"""Of its time limit: a job expected to take less is not suspected of exceeding it."""
BASES = ("same parameters", "same dataset", "other datasets", "a guess", "not to be tried")
SKIPPED = Estimate(OVERHEAD_SECONDS, "not to be tried")


@dataclass(frozen=True)
class Plan:
    """Jobs selected, those still to do, and what each of these will take."""

    jobs: Sequence[Job]
    pending: Sequence[Job]
    estimates: dict[str, Estimate] = field(repr=False)
    workers: int
    limits: Limits
    starting: float = 0.0
    """Processor seconds that workers spend on starting, importing and compiling."""
    busy: float = 1.0
    """By how much other programs stretch the time on the clock."""
    shorter: Mapping[str, float] = field(default_factory=dict)
    """Processor seconds of profiles that are made to be short, where there is reason to tell."""

    @property
    def core_seconds(self) -> float:
        return self.starting + sum(estimate.seconds for estimate in self.estimates.values())

    @property
    def wall_seconds(self) -> float:
        """Jobs that must run alone use one worker, the others share all."""
        alone = sum(self.estimates[j.key].seconds for j in self.pending if j.measured == "alone")
        shared = self.core_seconds - alone
        longest = max((self.estimates[j.key].seconds for j in self.pending), default=0.0)
        return self.busy * (alone + max(shared / self.workers, min(longest, shared)))

    def harmless(self) -> set[tuple[str, ...]]:
        """Groups that, by records of the same dataset, stay well within the time limit."""
        return {
            job.group
            for job in self.pending
            if self.estimates[job.key].basis in BASES[:2]
            and self.estimates[job.key].seconds < SAFE_SHARE * self.limits.seconds
        }


def make_plan(
    jobs: Sequence[Job],
    store: Store,
    limits: Limits,
    workers: int,
    retry: Collection[str] | None = None,
    done: Mapping[str, RunRecord] | None = None,
    hints: Iterable[RunRecord] = (),
) -> Plan:
    """Compare jobs with a store; committed records help with the times and nothing else.

    Parameters
    ----------
    done : records that count as if they were in the store.
    hints : further records that help with the times.
    """
    records = {**(done or {}), **store.latest()}
    pending = to_do(jobs, records, limits, retry)
    others = [one for one in profiles().values() if one.short] if len(jobs) > MANY_JOBS else []
    estimator = _estimator(pending, [*hints, *records.values()], limits, full=bool(others))
    estimates = estimate_all(pending, estimator, limits)
    compiled = kernels_compiled()
    tried = [job for job in pending if estimates[job.key] is not SKIPPED]
    return Plan(
        jobs,
        pending,
        estimates,
        workers,
        limits,
        starting(tried, workers, compiled),
        busy(workers),
        {one.slug: _core_seconds(one, estimator, limits, workers, compiled) for one in others},
    )


def _estimator(
    jobs: Sequence[Job], known: Sequence[RunRecord], limits: Limits, full: bool
) -> Estimator:
    """By the committed records of the same datasets, which are read in no time; or by all.

    Those of other datasets help with jobs whose learner has not been run on theirs, unless no
    record is of that learner.
    """
    if not full:
        datasets = {job.dataset for job in jobs}
        similar = [*Store(COMMITTED).records_of(datasets), *known]
        speed = speeds(similar)
        estimator = Estimator(similar, limits.seconds, speed)
        learners, declined = planned.read_learners(COMMITTED), _skips(jobs)
        told = [job for job in jobs if job.method in learners and _place(job) not in declined]
        if not told or (speed and all(map(estimator.knows, told))):
            return estimator
    similar = [*Store(COMMITTED).records(), *known]
    return Estimator(similar, limits.seconds, speeds(similar))


def _core_seconds(
    profile: Profile, estimator: Estimator, limits: Limits, workers: int, compiled: bool
) -> float:
    """Processor seconds of a whole profile, by the same estimator as everything else."""
    jobs = select(profile)
    estimates = estimate_all(jobs, estimator, limits)
    tried = [job for job in jobs if estimates[job.key] is not SKIPPED]
    return starting(tried, workers, compiled) + sum(each.seconds for each in estimates.values())


def note_plan(store: Store, jobs: Iterable[Job]) -> None:
    """Let a store know what it is asked for, and the names and shapes that tables print."""
    wanted = list(jobs)
    planned.add_plan(store.folder, wanted)
    planned.add_facts(
        store.folder,
        [dataset_facts(slug) for slug in dict.fromkeys(job.dataset for job in wanted)],
        [learner_facts(slug) for slug in dict.fromkeys(job.method for job in wanted)],
    )


def dataset_facts(slug: str) -> planned.DatasetFacts:
    facts = plugins.facts(slug)
    return planned.DatasetFacts(
        slug=slug,
        name=facts.name,
        task=facts.task,
        n_rows=facts.n_rows,
        n_features=facts.n_features,
        class_counts=tuple(facts.class_counts),
        categorical=tuple(getattr(facts, "categorical", ())),
        in_paper=getattr(facts, "in_paper", slug not in plugins.extras().datasets),
    )


def learner_facts(slug: str) -> planned.LearnerFacts:
    known = plugins.learner(slug)
    return planned.LearnerFacts(slug, known.name, known.version, known.in_paper)


def estimate_all(jobs: Sequence[Job], estimator: Estimator, limits: Limits) -> dict[str, Estimate]:
    """What each job will take; one expected to exceed its time spares the rest of its group."""
    will_skip, hopeless = _skips(jobs), set()
    estimates = {}
    for job in jobs:
        if _place(job) in will_skip or job.group in hopeless:
            estimates[job.key] = SKIPPED
            continue
        estimates[job.key] = estimator.estimate(job)
        if estimates[job.key].seconds > limits.seconds:
            hopeless.add(job.group)
    return estimates


def _place(job: Job) -> tuple[str, str, str]:
    return job.protocol, job.dataset, job.method


def _skips(jobs: Sequence[Job]) -> set[tuple[str, str, str]]:
    """Where a learner is known beforehand to decline, asked once per learner and dataset."""
    one_each = {_place(job): job for job in jobs}
    return {place for place, job in one_each.items() if skip_reason(job)}


def render(plan: Plan, profile: Profile) -> str:
    """The plan for people: a line per learner, the total, and the shorter ways."""
    lines = [f"Profile {profile.slug}: {profile.about}.", "", render_jobs(plan)]
    if plan.shorter:
        lines += ["", shorter(plan.shorter)]
    return "\n".join(lines)


def render_jobs(plan: Plan) -> str:
    """A line per learner, the total, and what the estimate rests on."""
    return "\n".join([per_method(plan), "", total(plan), basis(plan)]).rstrip()


def per_method(plan: Plan) -> str:
    methods = list(dict.fromkeys(job.method for job in plan.jobs))
    jobs = Counter(job.method for job in plan.jobs)
    pending = Counter(job.method for job in plan.pending)
    seconds: Counter[str] = Counter()
    for job in plan.pending:
        seconds[job.method] += plan.estimates[job.key].seconds  # type: ignore[assignment]
    rows = [
        [
            method,
            f"{jobs[method]:,}",
            f"{jobs[method] - pending[method]:,}",
            f"{pending[method]:,}",
            duration(seconds[method]) if pending[method] else "–",
        ]
        for method in methods
    ]
    return table(["method", "jobs", "done", "to do", "core time"], rows)


def total(plan: Plan) -> str:
    if not plan.pending:
        return f"All {len(plan.jobs):,} jobs are done."
    return (
        f"{len(plan.pending):,} of {len(plan.jobs):,} jobs to do: about "
        f"{duration(plan.core_seconds)} of processor time{_before(plan)}, "
        f"{duration(plan.wall_seconds)} of wall-clock time with {plan.workers} "
        f"worker{'s' if plan.workers > 1 else ''}{_load(plan)}; "
        f"time limit {duration(plan.limits.seconds)} per job."
    )


def _before(plan: Plan) -> str:
    if plan.starting < NOTABLE_SHARE * plan.core_seconds:
        return ""
    return f" (including {duration(plan.starting)} to start, import and compile)"


def _load(plan: Plan) -> str:
    return "" if plan.busy < 1 + NOTABLE_SHARE else " beside the other programs on this machine"


def basis(plan: Plan) -> str:
    """What the estimate rests on, so that nobody takes a guess for a measurement."""
    found = Counter(estimate.basis for estimate in plan.estimates.values())
    parts = [f"{found[name]:,} {name}" for name in BASES if found[name]]
    return f"Estimated from records of similar jobs ({'; '.join(parts)})." if parts else ""


def shorter(seconds: Mapping[str, float]) -> str:
    told = [
        f"--profile {slug} ({duration(spent)} of processor time, {profiles()[slug].about})"
        for slug, spent in seconds.items()
    ]
    return f"Shorter profiles: {'; '.join(told)}"
