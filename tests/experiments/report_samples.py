"""Made-up run records for the tests of figures and report: the paper's numbers, a little moved.

CART is copied to the digit, the others are shifted by a fixed pseudo-random
amount, so that every verdict occurs. Nothing here is a measurement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from experiments.analysis.findings import Findings, findings_of
from experiments.analysis.paper import Paper, PrintedDataset, load_paper
from experiments.core.job import Job
from experiments.core.record import RunRecord
from experiments.render.report.collect import Inputs

FIELDS = {
    "tuned": {
        "test-f1-tuned": "test_f1",
        "train-f1-tuned": "train_f1",
        "tree-size-tuned": "tree_size",
    },
    "default": {"test-f1-default": "test_f1"},
    "runtime": {"runtime": "wall_seconds"},
    "ablation-tuned": {"ablation-tuned": "test_f1"},
    "ablation-default": {"ablation-default": "test_f1"},
    "seeds": {"test-f1-tuned": "test_f1"},
}
SETTINGS = {
    "tuned": '{"setting":"tuned"}',
    "default": '{"setting":"default"}',
    "runtime": '{"setting":"no restarts"}',
    "ablation-tuned": '{"setting":"tuned"}',
    "ablation-default": '{"setting":"default"}',
    "seeds": '{"setting":"other draws"}',
}
ENVIRONMENT = {
    "id": "0123456789",
    "machine": {"system": "Linux x86_64", "cpu": "an ordinary one", "cores": 2},
    "versions": {"python": "3.11.2", "numpy": "2.4.6"},
}
HOSTILE_REASON = "ValueError: </script><img src=x onerror=alert(1)> & more"


@dataclass(frozen=True)
class Spec:
    """As much of a registry record as the report needs."""

    name: str
    task: str
    n_features: int
    n_rows: int
    class_counts: tuple[int, ...]
    categorical: tuple[str, ...]


Keep = Callable[[str, str, str, str], bool]
"""(protocol, experiment, dataset, method) -> whether it has been run"""


def everything(protocol: str, experiment: str, dataset: str, method: str) -> bool:
    return True


def nothing(protocol: str, experiment: str, dataset: str, method: str) -> bool:
    return False


def three_datasets(protocol: str, experiment: str, dataset: str, method: str) -> bool:
    return dataset in ("iris", "adult", "zoo")


def jobs(paper: Paper) -> list[Job]:
    planned = [
        _job(protocol, experiment, dataset, method, trial, 42)
        for protocol in ("paper", "clean")
        for experiment, tables in FIELDS.items()
        if protocol == "paper" or experiment in ("tuned", "default")
        for dataset, method in paper.cells[next(iter(tables))]
        for trial in range(10)
        if experiment != "seeds"
    ]
    planned += [
        _job("paper", "seeds", dataset, "gradtree", trial, seed)
        for dataset in ("iris", "zoo", "adult")
        for seed in (1042, 2042)
        for trial in range(10)
    ]
    planned += [
        _job("clean", "default", dataset, "boosting", trial, 42)
        for dataset in ("iris", "zoo", "adult")
        for trial in range(10)
    ]
    return planned


def _job(protocol: str, experiment: str, dataset: str, method: str, trial: int, seed: int) -> Job:
    params = SETTINGS[experiment]
    return Job(protocol, experiment, dataset, method, params, trial, seed, content_hash=dataset)


def records(paper: Paper, planned: Iterable[Job], keep: Keep) -> dict[str, RunRecord]:
    found: dict[str, RunRecord] = {}
    for job in planned:
        if not keep(job.protocol, job.experiment, job.dataset, job.method):
            continue
        # The ablation shares its first column with the tuned experiment, whose record comes first.
        found.setdefault(job.key, _record(paper, job))
    return found


def _record(paper: Paper, job: Job) -> RunRecord:
    if job.method == "boosting":  # the paper knows nothing of it
        return RunRecord.of(job, "ok", test_f1=0.9 + job.trial / 1000, cpu_seconds=1.0)
    tables = FIELDS[job.experiment]
    first = paper.cells[next(iter(tables))][job.dataset, job.method]
    common = {"environment": ENVIRONMENT["id"], "cpu_seconds": 1.5}
    if (job.dataset, job.method, job.trial) == ("zoo", "genetictree", 3):
        trouble = {"reason": HOSTILE_REASON, "traceback": "Traceback …\n</pre><b>bold</b>"}
        return RunRecord.of(job, "error", **trouble, **common)
    if first.mean is None:
        status = "skipped" if first.missing == "n>12" else "timeout"
        return RunRecord.of(job, status, reason=first.missing, **common)
    values = {field: _value(paper, table, field, job) for table, field in tables.items()}
    return RunRecord.of(job, "ok", **values, **common)


def _value(paper: Paper, table: str, field: str, job: Job) -> float:
    cell = paper.cells[table][job.dataset, job.method]
    assert cell.mean is not None
    assert cell.std is not None
    spread, shift = _noise(job.protocol, table, job.dataset, job.method, str(job.seed))
    if job.method == "cart" and job.protocol == "paper":
        shift = 0.0
    moved = shift * (cell.mean if field in ("tree_size", "wall_seconds") else 1.0)
    return float(cell.mean + moved + spread[job.trial] * cell.std)


@cache
def _noise(*identity: str) -> tuple[tuple[float, ...], float]:
    """Ten numbers of mean 0 and population deviation 1, and a shift."""
    generator = np.random.default_rng(list("/".join(identity).encode()))
    spread = generator.normal(size=10)
    spread = (spread - spread.mean()) / spread.std()
    return tuple(spread.tolist()), float(generator.normal(scale=0.03))


def spec(printed: PrintedDataset) -> Spec:
    categorical = ("colour",) if len(printed.slug) % 2 else ()
    counts = printed.class_counts
    return Spec(
        printed.name, printed.task, printed.n_features, printed.n_samples, counts, categorical
    )


def registry() -> dict[str, Spec]:
    return {printed.slug: spec(printed) for printed in load_paper().datasets}


@cache
def findings(keep: Keep = everything) -> Findings:
    return inputs(keep).findings


@cache
def inputs(keep: Keep = everything) -> Inputs:
    paper = load_paper()
    planned = jobs(paper)
    made = records(paper, planned, keep)
    return Inputs(
        findings=findings_of(planned, made, registry()),  # type: ignore[arg-type]
        records=list(made.values()),
        registry=registry(),
        environments={str(ENVIRONMENT["id"]): ENVIRONMENT},
    )
