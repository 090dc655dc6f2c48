"""What a check of the paper's sentences looks at, and what it finds.

A check computes its numbers from the tables of one ``Evidence`` - our runs under a protocol, the
same with GradTree drawn from another seed, or the paper's printed cells - and says whether its
sentence is true of them and how large the effect is. A check that lacks cells which the paper has
raises ``UndecidedError``: nothing follows from an incomplete table.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import pandas as pd

from experiments.analysis.answer import Grid
from experiments.analysis.grids import cells, grid, matrix, printed_grid
from experiments.analysis.printed import TASKS, Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import mean_of

SETTLED = (">60 min", "memory", "n>12")
"""Texts of cells that have no number and, by the paper's rules, need none."""
Values = Mapping[str, float]


class UndecidedError(Exception):
    """The runs do not suffice; the message says what is missing."""


class Finding(NamedTuple):
    """Whether a sentence is true, the numbers that say so, and the size of its effect: positive in
    the sentence's direction, NaN where there is no such number.
    """

    holds: bool | str
    numbers: str
    effect: float = math.nan


@dataclass
class Evidence:
    """The tables that a check looks at; ``runs`` is ``None`` for the paper's own numbers.

    ``trials`` are those behind the cells looked at, ``used`` the tables; ``cache`` is what checks
    of the same source have in common.
    """

    paper: Printed
    runs: Runs | None = None
    protocol: str = "paper"
    names: Callable[[str], str] = str
    trials: list[int] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    cache: dict[Any, Any] = field(default_factory=dict)

    def afresh(self) -> "Evidence":
        """The same for another check."""
        return replace(self, trials=[], used=set())

    def grid(self, name: str) -> Grid:
        self.used.add(name)
        if self.runs is None:
            return printed_grid(name, self.paper)
        return grid(self.runs, name, self.protocol)

    def table(self, name: str, task: str, methods: Sequence[str] = ()) -> Grid:
        """A table once it has every cell of these methods (all unless given) the paper has."""
        found, key = self.grid(name), (name, task, tuple(methods))
        if key not in self.cache:
            theirs = self.paper.of(name)[["dataset", "method", "mean"]]
            cells = found.frame[found.frame["task"] == task]
            cells = cells[cells["method"].isin(methods or found.methods)]
            both = cells.merge(theirs, on=["dataset", "method"], suffixes=("", "_paper"))
            needed = both["mean_paper"].notna() | (both["missing"] == "")
            open_ = needed & both["mean"].isna() & ~both["missing"].isin(SETTLED)
            count, trials = both["dataset"].nunique(), both.loc[both["mean"].notna(), "n"].to_list()
            self.cache[key] = count, both.loc[open_, "dataset"].nunique(), trials
        rows, missing, trials = self.cache[key]
        if missing or not rows:
            told = f"{rows - missing} of {rows} {task} datasets have every cell the paper has"
            raise UndecidedError(f"{found.title}: {told}")
        self.trials += trials
        return found

    def summary(self, name: str, task: str, statistic: str) -> dict[str, float]:
        """A summary line as method -> value."""
        lines = self.table(name, task).summary
        own = lines[(lines["task"] == task) & (lines["statistic"] == statistic)]
        return dict(own.dropna(subset="value").set_index("method")["value"])

    def matrix(self, name: str, task: str, methods: Sequence[str] = ()) -> pd.DataFrame:
        """Means, datasets x methods, complete for these methods (all unless given)."""
        found = self.table(name, task, methods)
        key = ("matrix", name, task)
        self.cache[key] = wide = self.cache[key] if key in self.cache else matrix(found, task)
        return wide

    def means(self, name: str, task: str, methods: Sequence[str] = ()) -> dict[str, float]:
        """Mean over datasets as method -> value, of all methods unless given."""
        wide = self.matrix(name, task, methods)
        return {str(m): mean_of(own) for m in methods or wide if len(own := wide[m].dropna())}

    def seconds(self, *methods: str) -> pd.DataFrame:
        """Means of the table of runtimes, datasets x methods."""
        return pd.concat([self.matrix("runtime", t, methods) for t in TASKS])[list(methods)]

    def cell(self, experiment: str, dataset: str, method: str, metric: str) -> dict[str, Any]:
        """One cell of an experiment that the paper has no table of."""
        if self.runs is None:
            raise UndecidedError("the paper prints no such number")
        found = cells(self.runs, self.protocol, experiment, metric)
        if (dataset, method) not in found.index:
            raise UndecidedError(f"{self.names(method)} on {self.names(dataset)}: not run")
        own = found.loc[(dataset, method)].to_dict()
        self.trials += [] if math.isnan(own["mean"]) else [own["n"]]
        return own

    def listed(self, values: Values, decimals: int) -> str:
        return ", ".join(f"{self.names(m)} {value:.{decimals}f}" for m, value in values.items())
