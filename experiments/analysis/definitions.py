"""The grids of the paper as declared in ``tables.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from experiments.analysis.model import Column, Measure

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
