"""Jobs and records made up for the tests of tables: small ones, and the paper's own numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from experiments.analysis.model import Cell
from experiments.analysis.paper import Grid, Paper, grids
from experiments.core.job import Job
from experiments.core.record import RunRecord

Records = dict[str, RunRecord]
TIE_STEP = 1e-7


def job(experiment: str, dataset: str, method: str, trial: int, **fields: Any) -> Job:
    return Job(
        protocol=fields.pop("protocol", "paper"),
        experiment=experiment,
        dataset=dataset,
        method=method,
        params_json=Job.freeze({"of": experiment}),
        trial=trial,
        seed=fields.pop("seed", 42),
        content_hash=dataset,
        **fields,
    )


def runs(
    experiment: str,
    dataset: str,
    method: str,
    values: Sequence[float],
    measure: str = "test_f1",
    expected: int | None = None,
    protocol: str = "paper",
) -> tuple[list[Job], Records]:
    """Jobs for ``expected`` trials, of which the first ones ended with the given values."""
    total = len(values) if expected is None else expected
    jobs = [job(experiment, dataset, method, trial, protocol=protocol) for trial in range(total)]
    records = {
        each.key: RunRecord.of(each, "ok", **{measure: value})
        for each, value in zip(jobs, values, strict=False)
    }
    return jobs, records


def spread_values(mean: float, std: float, n: int = 10) -> list[float]:
    """An even number of values with exactly this mean and population deviation."""
    return [mean + std if trial % 2 else mean - std for trial in range(n)]


def as_it_is(_table: str, method: str) -> str:
    return method


@cache
def paper_as_ours(
    paper: Paper, rename: Callable[[str, str], str] = as_it_is
) -> tuple[list[Job], Records]:
    """The paper's printed cells as if ten trials of ours had given them.

    Printed means that look alike were ranked by the paper unrounded; its bracketed rank says
    how, and a trifle below the printed digits is added so that ours are ranked alike.
    ``rename`` may put the numbers of one method under the name of another. Both results are
    shared between tests and not to be changed.
    """
    fields: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    texts: dict[tuple[str, str, str], str] = {}
    for name, grid in grids().items():
        for (dataset, method), cell in paper.cells[name].items():
            address = (grid.experiment, dataset, rename(name, method))
            if cell.mean is None or cell.std is None:
                texts.setdefault(address, cell.missing)
            else:
                values = spread_values(_untied(cell, grid), cell.std)
                fields.setdefault(address, {})[grid.measure] = values
    for dataset in paper.datasets:
        means = {
            "test_f1": paper.penalty[dataset.task, "f1", "no_penalty"],
            "tree_size": paper.penalty[dataset.task, "tree_size", "no_penalty"],
        }
        fields["no-penalty", dataset.slug, "genetictree-no-penalty"] = {
            measure: [value] * 10 for measure, value in means.items()
        }
    texts["solvers", "splice", "dl85-original"] = paper.cells["test-f1-tuned"][
        "splice", "dl85"
    ].missing
    return _jobs_and_records(fields, texts)


def _untied(cell: Cell, grid: Grid) -> float:
    assert cell.mean is not None
    step = TIE_STEP * cell.printed_rank
    return cell.mean + step if grid.smaller_is_better else cell.mean - step


def _jobs_and_records(
    fields: dict[tuple[str, str, str], dict[str, list[float]]],
    texts: dict[tuple[str, str, str], str],
) -> tuple[list[Job], Records]:
    jobs: list[Job] = []
    records: Records = {}
    for address in {**fields, **texts}:
        for trial in range(10):
            each = job(*address, trial)
            jobs.append(each)
            if address in fields:
                outcome = {name: values[trial] for name, values in fields[address].items()}
                records[each.key] = RunRecord.of(each, "ok", **outcome)
            elif texts[address].startswith(">"):
                records[each.key] = RunRecord.of(each, "timeout", reason="60 minutes")
            else:
                records[each.key] = RunRecord.of(each, "skipped", reason=texts[address])
    return jobs, records
