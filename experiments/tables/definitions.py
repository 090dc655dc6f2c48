"""The grids of the paper as declared in ``tables.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from experiments.tables.model import Column, Measure

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
    paper: str
    columns: tuple[Column, ...]
    summaries: tuple[SummaryName, ...]
    printed: tuple[SummaryName, ...]
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
def grids() -> dict[str, Grid]:
    """Every grid by name, in the order of the file."""
    declared = tomllib.loads(DECLARATIONS.read_text(encoding="utf-8"))
    methods = declared.pop("methods")
    records = declared.pop("grid")
    if declared:
        raise ValueError(f"{DECLARATIONS.name}: unknown section {sorted(declared)}")
    return {record["name"]: _grid(record, methods) for record in records}


@cache
def method_name(slug: str) -> str:
    """The name a method has in the paper's tables."""
    declared = tomllib.loads(DECLARATIONS.read_text(encoding="utf-8"))["methods"]
    return str(declared[slug]["name"]) if slug in declared else slug


def _grid(record: dict[str, Any], methods: dict[str, dict[str, str]]) -> Grid:
    fields = dict(record)
    names = fields.pop("names", {})
    columns = tuple(
        Column(
            slug, names.get(slug, methods[slug]["name"]), "" if names else methods[slug]["group"]
        )
        for slug in fields.pop("methods")
    )
    for key in ("summaries", "printed"):
        fields[key] = tuple(fields[key])
    fields["mean_omits"] = frozenset(fields.get("mean_omits", ()))
    return Grid(columns=columns, **fields)
