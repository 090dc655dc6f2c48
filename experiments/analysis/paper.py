"""What the paper prints: its grids as declared in ``tables.toml``, its numbers, its misprints."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from experiments.analysis.model import Cell, Column, Inconsistency, Measure, Statistic, Task

BEYOND_GROUP = "Beyond the paper"
DECLARATIONS = Path(__file__).with_name("tables.toml")

SummaryName = Literal["Mean", "MRR", "MRD", "Wins"]


@dataclass(frozen=True)
class Grid:
    """What a dataset x method table shows; see ``tables.toml`` for the fields."""

    name: str
    title: str
    caption: str
    experiment: str
    measure: Measure
    columns: tuple[Column, ...]
    summaries: tuple[SummaryName, ...]
    printed: tuple[SummaryName, ...]
    beside: tuple[Column, ...] = ()
    """Columns that the paper lacks, shown once they have results: never ranked, never judged."""
    paper: str = ""
    """Stem of the CSVs with the printed figures; empty for tables the paper does not have."""
    mean_spread: Literal["datasets", "trials"] = "datasets"
    mean_omits: frozenset[str] = field(default_factory=frozenset)
    smaller_is_better: bool = False
    decimals: int = 3
    std_decimals: int = 3
    summary_decimals: int = 3
    split_by_task: bool = False
    machine_dependent: bool = False
    """Seconds of another machine: compared for the reader, never counted or guarded."""


@cache
def _declared() -> tuple[dict[str, dict[str, str]], list[Grid], list[Grid]]:
    """Methods, the paper's grids, and those beyond it."""
    declared = tomllib.loads(DECLARATIONS.read_text(encoding="utf-8"))
    methods = {slug: _method(slug, facts) for slug, facts in declared.pop("methods").items()}
    grids_, beyond = (
        [_grid(record, methods) for record in declared.pop(key)] for key in ("grid", "beyond")
    )
    if declared:
        raise ValueError(f"{DECLARATIONS.name}: unknown section {sorted(declared)}")
    return methods, grids_, beyond


def grids() -> dict[str, Grid]:
    """The paper's grids by name, in the order of the file."""
    return {grid.name: grid for grid in _declared()[1]}


def beyond_grids() -> dict[str, Grid]:
    """Grids with learners that the paper does not have."""
    return {grid.name: grid for grid in _declared()[2]}


def methods() -> list[str]:
    """Every method that has a name of its own in tables, in the order of their declaration."""
    return list(_declared()[0])


def method_name(slug: str) -> str:
    """The name a method has in the paper's tables, or its slug."""
    methods = _declared()[0]
    return methods[slug]["name"] if slug in methods else slug


def _method(slug: str, facts: dict[str, str]) -> dict[str, str]:
    """A method's printed name, and the group above its column, which not all have."""
    if "name" not in facts or (unknown := sorted(set(facts) - {"name", "group"})):
        problem = f"has unknown {unknown}" if "name" in facts else "lacks its name"
        raise ValueError(f"{DECLARATIONS.name}: [methods] {slug} {problem}")
    return {"group": "", **facts}


def _grid(record: dict[str, Any], methods: dict[str, dict[str, str]]) -> Grid:
    fields = dict(record)
    names = fields.pop("names", {})
    columns, beside = (
        tuple(
            Column(
                slug,
                names.get(slug, methods[slug]["name"]),
                "" if names else methods[slug]["group"],
            )
            for slug in slugs
        )
        for slugs in (fields.pop("methods"), fields.pop("beside", ()))
    )
    for key in ("summaries", "printed"):
        fields[key] = tuple(fields[key])
    fields["mean_omits"] = frozenset(fields.get("mean_omits", ()))
    return Grid(columns=columns, beside=beside, **fields)


FOLDER = Path(__file__).resolve().parents[2] / "results" / "paper"
TRIALS = 10

TIMEOUT = ">60 min"
"""What stands in a table for a fit that was stopped after the paper's limit of an hour."""
MISSING_TEXT = {"ok": "", ">60min": TIMEOUT}
"""How the ``status`` column of the CSVs is spelled in a table; other reasons stand as they are."""


@dataclass(frozen=True)
class PrintedDataset:
    """One line of the paper's table of datasets."""

    slug: str
    name: str
    task: Task
    n_features: int
    n_samples: int
    class_counts: tuple[int, ...]
    n_classes: int
    link: str


@dataclass(frozen=True, eq=False)
class Paper:
    """Everything the paper prints, keyed by identifiers.

    Attributes
    ----------
    datasets : in the paper's order, 22 binary then 14 multi-class.
    cells : table name -> (dataset, method) -> cell.
    summaries : table name -> (task, statistic, method) -> statistic.
    summary : method -> column of the paper's summary table -> value.
    ablation_summary : (setting, task, method) -> mean F1.
    penalty : (task, measure, variant) -> value, variant ``penalty`` or ``no_penalty``.
    hyperparameters : method -> dataset -> parameter -> value, as text.
    """

    datasets: tuple[PrintedDataset, ...]
    cells: Mapping[str, Mapping[tuple[str, str], Cell]]
    summaries: Mapping[str, Mapping[tuple[Task, str, str], Statistic]]
    summary: Mapping[str, Mapping[str, float]]
    ablation_summary: Mapping[tuple[str, Task, str], float]
    penalty: Mapping[tuple[Task, str, str], float]
    hyperparameters: Mapping[str, Mapping[str, Mapping[str, str]]]
    inconsistencies: tuple[Inconsistency, ...]

    def of_task(self, task: Task) -> tuple[PrintedDataset, ...]:
        return tuple(dataset for dataset in self.datasets if dataset.task == task)


TUNED_METHODS = ("gradtree", "dndt", "genetictree", "cart")
"""The methods with a table of tuned hyperparameters (DL8.5 has none to tune)."""


@cache
def load_paper(folder: Path = FOLDER) -> Paper:
    """Read all printed tables from a folder of CSVs."""
    return Paper(
        datasets=tuple(_dataset(row) for row in _rows(folder, "dataset_specs")),
        cells={name: _cells(folder, grid) for name, grid in grids().items()},
        summaries={name: _summaries(folder, grid) for name, grid in grids().items()},
        summary=_summary(folder),
        ablation_summary=_ablation_summary(folder),
        penalty=_penalty(folder),
        hyperparameters={method: _hyperparameters(folder, method) for method in TUNED_METHODS},
        inconsistencies=_inconsistencies(folder / "inconsistencies.toml"),
    )


def dataset_slug(name: str) -> str:
    """Identifier of a dataset from its printed name."""
    return name.lower().replace(" ", "-")


def _rows(folder: Path, stem: str) -> list[dict[str, str]]:
    path = folder / f"{stem}.csv"
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{path} is missing: the paper's printed numbers belong to the repository, "
            "restore them with `git checkout -- results/paper`"
        ) from None


def _task(text: str) -> Task:
    if text == "binary":
        return "binary"
    if text == "multi":
        return "multi"
    raise ValueError(f"unknown task {text!r} in the paper's CSVs, expected binary or multi")


def _number(text: str) -> float | None:
    return float(text) if text else None


def _dataset(row: Mapping[str, str]) -> PrintedDataset:
    return PrintedDataset(
        slug=dataset_slug(row["dataset"]),
        name=row["dataset"],
        task=_task(row["task"]),
        n_features=int(row["n_features"]),
        n_samples=int(row["n_samples"]),
        class_counts=tuple(int(count) for count in row["samples_by_class"].split("/")),
        n_classes=int(row["n_classes"]),
        link=row["source"],
    )


def _slugs(grid: Grid) -> dict[str, str]:
    return {column.name: column.method for column in grid.columns}


def _cells(folder: Path, grid: Grid) -> dict[tuple[str, str], Cell]:
    slugs = _slugs(grid)
    cells = {}
    for row in _rows(folder, grid.paper):
        found = row["status"] == "ok"
        cells[dataset_slug(row["dataset"]), slugs[row["method"]]] = Cell(
            mean=_number(row["mean"]),
            std=_number(row["std"]),
            n=TRIALS if found else 0,
            expected=TRIALS,
            missing=MISSING_TEXT.get(row["status"], row["status"]),
            printed_rank=int(row["rank"]) if row["rank"] else 0,
        )
    return cells


def _summaries(folder: Path, grid: Grid) -> dict[tuple[Task, str, str], Statistic]:
    slugs = _slugs(grid)
    return {
        (_task(row["task"]), row["statistic"], slugs[row["method"]]): Statistic(
            _number(row["mean"]),
            _number(row["std"]),
            rank=int(row["rank"]) if row["rank"] else None,
        )
        for row in _rows(folder, f"{grid.paper}_summary")
    }


def _summary(folder: Path) -> dict[str, dict[str, float]]:
    slugs = _slugs(grids()["test-f1-tuned"])
    return {
        slugs[row.pop("method")]: {column: float(text) for column, text in row.items()}
        for row in _rows(folder, "summary")
    }


def _ablation_summary(folder: Path) -> dict[tuple[str, Task, str], float]:
    slugs = _slugs(grids()["ablation-tuned"])
    setting = {"optimized": "tuned", "default": "default"}
    return {
        (setting[row["setting"]], _task(row["task"]), slug): float(row[name])
        for row in _rows(folder, "ablation_summary")
        for name, slug in slugs.items()
    }


def _penalty(folder: Path) -> dict[tuple[Task, str, str], float]:
    return {
        (_task(row["task"]), row["measure"], variant): float(row[variant])
        for row in _rows(folder, "genetictree_penalty")
        for variant in ("penalty", "no_penalty")
    }


def _hyperparameters(folder: Path, method: str) -> dict[str, dict[str, str]]:
    return {
        dataset_slug(row.pop("dataset")): dict(row)
        for row in _rows(folder, f"hyperparameters_{method}")
    }


def _inconsistencies(path: Path) -> tuple[Inconsistency, ...]:
    declared = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(Inconsistency(**record) for record in declared["inconsistency"])
