"""Which dataset x learner tables there are: ``grids.toml``, and what plug-ins declare."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from experiments.analysis.printed import printed
from experiments.errors import UserError, did_you_mean
from experiments.runs.schema import BY_NAME

DECLARATIONS = Path(__file__).with_name("grids.toml")
KINDS = ("paper", "beyond", "table")
SUMMARIES = ("Mean", "MRR", "MRD", "Wins")


class TableError(UserError):
    """A declared table that cannot be made; the message says what is wrong and what is known."""


@dataclass(frozen=True)
class Declared:
    """One table as declared; ``grids.toml`` explains the fields."""

    name: str
    title: str
    experiment: str
    metric: str
    caption: str = ""
    methods: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    summaries: tuple[str, ...] = ("Mean", "MRR")
    printed: tuple[str, ...] = ()
    mean_spread: str = "datasets"
    mean_omits: tuple[str, ...] = ()
    shared: bool = True
    decimals: int = 3
    std_decimals: int = None  # type: ignore[assignment]
    summary_decimals: int = None  # type: ignore[assignment]
    smaller_is_better: bool = None  # type: ignore[assignment]
    split_by_task: bool = False
    machine_dependent: bool = False

    def __post_init__(self) -> None:
        """What is not declared follows from the rest."""
        better = BY_NAME[self.metric].better if self.metric in BY_NAME else ""
        rest = {
            "caption": self.title,
            "printed": self.summaries,
            "std_decimals": self.decimals,
            "summary_decimals": self.decimals,
            "smaller_is_better": better == "low",
        }
        for name, value in rest.items():
            if getattr(self, name) in ("", (), None):
                object.__setattr__(self, name, value)


def declare(entry: Mapping[str, Any], where: str) -> Declared:
    """A table from a record of TOML or of a plug-in; what is not understood is refused."""
    known = [each.name for each in fields(Declared)]
    name = entry.get("name", "without a name")
    for key in entry:
        if key not in known:
            raise TableError(
                f"{where}: table {name}: unknown field {key!r}; {did_you_mean(key, known)}"
            )
    for key in ("name", "title", "experiment", "metric"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise TableError(f"{where}: table {name} lacks its {key}")
    lists = {k: tuple(v) for k, v in entry.items() if isinstance(v, list | tuple)}
    made = Declared(**{**entry, **lists})
    for statistic in set(made.summaries) - set(SUMMARIES):
        meant = did_you_mean(statistic, SUMMARIES)
        raise TableError(f"{where}: table {name}: unknown summary {statistic!r}; {meant}")
    return made


@cache
def declarations() -> dict[str, dict[str, Any]]:
    """``paper``, ``beyond`` and ``table``: tables by name; ``learners``, ``datasets``: orders."""
    content = tomllib.loads(DECLARATIONS.read_text(encoding="utf-8"))
    found: dict[str, dict[str, Any]] = {}
    for key in ("learners", "datasets"):
        found[key] = {slug: at for at, slug in enumerate(content.pop(key))}
    for kind in KINDS:
        tables = [declare(entry, DECLARATIONS.name) for entry in content.pop(kind)]
        if kind == "paper":
            tables = [replace(each, shared=False) for each in tables]
        found[kind] = {each.name: each for each in tables}
    if content:
        raise TableError(f"{DECLARATIONS.name}: unknown section {sorted(content)[0]!r}")
    return found


def declared(name: str) -> Declared:
    """A table of ``grids.toml``."""
    known = {n: each for kind in KINDS for n, each in declarations()[kind].items()}
    if name not in known:
        raise TableError(f"unknown table {name!r}; {did_you_mean(name, known)}")
    return known[name]


def paper_tables() -> tuple[str, ...]:
    """Names of the tables that the paper prints, in its order."""
    return tuple(declarations()["paper"])


def learner_order(slugs: Iterable[str]) -> list[str]:
    """Learners in the order of their columns; those that the suite does not name come last."""
    place = declarations()["learners"]
    return sorted(set(slugs), key=lambda slug: (place.get(slug, len(place)), slug))


def dataset_order(slugs: Iterable[str]) -> list[str]:
    """Datasets in the order of their rows: the paper's, those of the suite, others by name."""
    names = (*printed().datasets.index, *declarations()["datasets"])
    place = {slug: at for at, slug in enumerate(names)}
    return sorted(set(slugs), key=lambda slug: (place.get(slug, len(place)), slug))
