"""The paper's empirical sentences, checked: as printed, here, with other seeds, without the leak.

A check computes its numbers from the tables of one ``Evidence`` - our runs under a protocol, the
same with GradTree drawn from another seed, or the paper's printed cells - and says whether its
sentence is true of them and how large the effect is. A check that lacks cells which the paper
has raises ``UndecidedError``: nothing follows from an incomplete table, or from fewer trials than
the paper's. How much of the printed effect is kept is what a claim is graded by.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd

from experiments.analysis.answer import Grid
from experiments.analysis.grids import cells, grid, matrix, printed_grid
from experiments.analysis.printed import TRIALS, Printed
from experiments.analysis.ranks import mean_of
from experiments.analysis.runs import Runs

Outcome = Literal["holds", "holds as printed only", "does not hold", "cannot be told"]
OUTCOMES: tuple[Outcome, ...] = (
    "holds",
    "holds as printed only",
    "does not hold",
    "cannot be told",
)
SETTLED = (">60 min", "memory")
"""Texts of cells that have no number and, by the paper's rules, need none."""
TUNED = ("test-f1-tuned", "train-f1-tuned", "tree-size-tuned")
"""Tables whose GradTree column another seed changes."""
IN_FULL = 0.8
"""Share of the printed effect from which a claim counts as kept in full."""
STREAMS = ("seeds-authors-stream", "seeds")


class UndecidedError(Exception):
    """The runs do not suffice; the message says what is missing."""


class Finding(NamedTuple):
    """Whether a sentence is true, the numbers that say so, and the size of its effect.

    The effect is positive in the sentence's direction; NaN where there is no such number.
    """

    holds: bool | Outcome
    numbers: str
    effect: float = math.nan


@dataclass
class Evidence:
    """The tables that a check looks at; ``runs`` is ``None`` for the paper's own numbers."""

    paper: Printed
    runs: Runs | None = None
    protocol: str = "paper"
    names: Callable[[str], str] = str
    trials: list[int] = field(default_factory=list)
    """Trials behind the cells that were looked at."""
    used: set[str] = field(default_factory=set)
    """Tables that were looked at."""
    cache: dict[Any, Any] = field(default_factory=dict)
    """What checks of the same source have in common."""

    def afresh(self) -> Evidence:
        """The same for another check."""
        return replace(self, trials=[], used=set())

    def grid(self, name: str) -> Grid:
        self.used.add(name)
        if self.runs is None:
            return printed_grid(name, self.paper)
        return grid(self.runs, name, self.protocol)

    def table(self, name: str, task: str, methods: Iterable[str] = ()) -> Grid:
        """A table once it has every cell of these methods (all unless given) the paper has."""
        found, wanted = self.grid(name), tuple(methods)
        if (name, task, wanted) not in self.cache:
            self.cache[name, task, wanted] = self._trials(found, task, wanted)
        self.trials += self.cache[name, task, wanted]
        return found

    def _trials(self, found: Grid, task: str, methods: tuple[str, ...]) -> list[int]:
        """Trials of each cell that has a number, once all have one that can."""
        theirs = self.paper.of(found.name).set_index(["dataset", "method"])["mean"]
        wanted = methods or tuple(theirs.index.unique("method"))
        frame = found.frame[(found.frame["task"] == task) & found.frame["method"].isin(wanted)]
        needed = [
            not math.isnan(theirs[place])
            for place in zip(frame["dataset"], frame["method"], strict=True)
        ]
        open_ = frame["mean"].isna() & ~frame["missing"].isin(SETTLED)
        open_ &= pd.Series(needed, index=frame.index) | (frame["missing"] == "")
        rows, missing = frame["dataset"].nunique(), frame.loc[open_, "dataset"].nunique()
        if missing or not rows:
            told = f"{rows - missing} of {rows} {task} datasets have run"
            raise UndecidedError(f"{found.title}: {told}")
        return [int(n) for n in frame.loc[frame["mean"].notna(), "n"]]

    def summary(self, name: str, task: str, statistic: str) -> dict[str, float]:
        """A summary line as method -> value."""
        lines = self.table(name, task).summary
        own = lines[(lines["task"] == task) & (lines["statistic"] == statistic)]
        return dict(own.dropna(subset="value").set_index("method")["value"])

    def matrix(self, name: str, task: str, methods: Iterable[str] = ()) -> pd.DataFrame:
        """Means, datasets x methods, complete for these methods (all unless given)."""
        found = self.table(name, task, methods)
        if (name, task) not in self.cache:
            self.cache[name, task] = matrix(found, task)
        wide: pd.DataFrame = self.cache[name, task]
        return wide

    def means(self, name: str, task: str, methods: Iterable[str] = ()) -> dict[str, float]:
        """Mean over datasets as method -> value, of all methods unless given."""
        wide = self.matrix(name, task, methods)
        wanted = tuple(methods) or wide.columns
        return {str(m): mean_of(own) for m in wanted if len(own := wide[m].dropna())}

    def cell(self, experiment: str, dataset: str, method: str, metric: str) -> dict[str, float]:
        """One cell of an experiment that the paper has no table of."""
        if self.runs is None:
            raise UndecidedError("the paper prints no such number")
        found = cells(self.runs, self.protocol, experiment, metric)
        if (dataset, method) not in found.index:
            raise UndecidedError(f"{self.names(method)} on {self.names(dataset)}: not run")
        own = found.loc[(dataset, method)].to_dict()
        if not math.isnan(own["mean"]):
            self.trials.append(int(own["n"]))
        return own

    def penalty(self, task: str, measure: str) -> tuple[float, float]:
        """Means over datasets of GeneticTree with and without its complexity penalty."""
        if self.runs is None:
            own = self.paper.penalty.set_index(["task", "measure", "variant"])["value"]
            return own[task, measure, "penalty"], own[task, measure, "no_penalty"]
        metric = {"f1": "test_f1", "tree_size": "tree_size"}[measure]
        slugs = self.paper.datasets.index[self.paper.datasets["task"] == task]
        found = []
        for experiment, method in (
            ("tuned", "genetictree"),
            ("no-penalty", "genetictree-no-penalty"),
        ):
            own = cells(self.runs, self.protocol, experiment, metric)
            own = own[own.index.isin([(slug, method) for slug in slugs])].dropna(subset="mean")
            if len(own) < len(slugs):
                raise UndecidedError(
                    f"{self.names(method)}: {len(own)} of {len(slugs)} {task} datasets have run"
                )
            self.trials += [int(n) for n in own["n"]]
            found.append(mean_of(own["mean"]))
        return found[0], found[1]


@dataclass(frozen=True)
class Sentence:
    """A sentence of the paper in our words, where it stands, its check, and how it is read."""

    slug: str
    sentence: str
    where: str
    check: str
    args: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    def on(self, evidence: Evidence) -> Finding:
        """What its function of ``checks`` finds."""
        from experiments.analysis import checks

        found: Finding = getattr(checks, self.check)(evidence, **self.args)
        return found


def sentences() -> list[Sentence]:
    """Those of ``claims.toml``."""
    path = Path(__file__).with_name("claims.toml")
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["claim"]
    return [Sentence(**entry) for entry in entries]


@dataclass(frozen=True)
class Claim:
    """A sentence with what is printed, measured here, k of n seeds, and without the leak."""

    sentence: Sentence
    outcome: Outcome
    ours: Finding
    in_paper: Outcome
    paper: Finding
    clean_outcome: Outcome
    clean: Finding
    seeds: str

    @property
    def kept(self) -> float:
        """Share of the printed effect that is measured here; NaN where there is none to keep."""
        return self.ours.effect / self.paper.effect if self.paper.effect > 0 else math.nan

    @property
    def grade(self) -> str:
        """``in full``, ``in part``, ``not``, or ``cannot be told``."""
        if self.outcome == "cannot be told":
            return self.outcome
        if math.isnan(self.kept):
            return {"holds": "in full", "does not hold": "not"}.get(self.outcome, "in part")
        return "in full" if self.kept >= IN_FULL else "in part" if self.kept > 0 else "not"


def check(sentence: Sentence, evidence: Evidence) -> tuple[Outcome, Finding]:
    """The outcome of a sentence on some evidence; fewer trials than the paper's judge nothing."""
    try:
        found = sentence.on(evidence)
    except UndecidedError as gap:
        return "cannot be told", Finding(False, str(gap))
    fewest = min(evidence.trials, default=TRIALS)
    if fewest < TRIALS:
        told = f"{found.numbers} (cells from {fewest} trials upwards: too few to judge)"
        return "cannot be told", Finding(found.holds, told)
    if isinstance(found.holds, str):
        return found.holds, found
    return ("holds" if found.holds else "does not hold"), found


def with_seed(runs: Runs, experiment: str, seed: int) -> Runs:
    """What claims about tuned learners look at, with GradTree's runs from another seed."""
    kept = [runs.of("paper", name) for name in ("tuned", "no-penalty")]
    kept[0] = kept[0][kept[0]["method"] != "gradtree"]
    drawn = runs.of("paper", experiment)
    drawn = drawn[(drawn["method"] == "gradtree") & (drawn["seed"] == seed)]
    frame = pd.concat([*kept, drawn.assign(experiment="tuned")], ignore_index=True)
    return replace(runs, frame=frame)


def other_draws(runs: Runs) -> list[Runs]:
    """The runs once per seed that has all its runs; of the authors' stream where there are."""
    for experiment in STREAMS:
        rows = runs.of("paper", experiment)
        rows = rows[rows["method"] == "gradtree"]
        whole = (rows["status"] == "ok").groupby(rows["seed"]).all()
        if whole.any():
            return [with_seed(runs, experiment, int(seed)) for seed in whole.index[whole]]
    return []


def check_claims(runs: Runs, paper: Printed) -> list[Claim]:
    """Every sentence on the paper's numbers, ours, those of other seeds, and without the leak."""
    here, printed = Evidence(paper, runs, names=runs.name), Evidence(paper, names=runs.name)
    clean = Evidence(paper, runs, "clean", runs.name)
    draws = [Evidence(paper, own, names=runs.name) for own in other_draws(runs)]
    found = []
    for each in sentences():
        mine, seeds = here.afresh(), ""
        outcome, ours = check(each, mine)
        if draws and outcome != "cannot be told" and mine.used and mine.used <= set(TUNED):
            others = [check(each, source.afresh())[0] for source in draws]
            seeds = f"{[outcome, *others].count('holds')} of {len(draws) + 1}"
        beside = check(each, printed.afresh()), check(each, clean.afresh())
        found.append(Claim(each, outcome, ours, *beside[0], *beside[1], seeds))
    return found


def claims_frame(claims: Sequence[Claim]) -> pd.DataFrame:
    """What ``claims.csv`` holds: a line per sentence."""
    return pd.DataFrame(
        {
            "claim": each.sentence.slug,
            "sentence": each.sentence.sentence,
            "where": each.sentence.where,
            "outcome": each.outcome,
            "ours": each.ours.numbers,
            "in_paper": each.in_paper,
            "paper": each.paper.numbers,
            "note": each.sentence.note,
            "printed_effect": each.paper.effect,
            "effect": each.ours.effect,
            "kept": each.kept,
            "grade": each.grade,
            "seeds": each.seeds,
            "clean": each.clean_outcome,
            "clean_numbers": each.clean.numbers,
        }
        for each in claims
    )
