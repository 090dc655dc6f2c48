"""The table of runs as one frame: what was planned, joined with what came out of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from experiments.errors import UserError
from experiments.runs import archive
from experiments.runs.archive import Prediction
from experiments.runs.schema import COLUMNS
from experiments.runs.store import FILE, LOCAL, PLANNED, Store

Facts = Mapping[str, Mapping[str, Any]]
WINNERS = Path("search") / "winners.csv"
"""Of a store, or of the folder of results: the best candidates of our hyperparameter search."""


class Source:
    """A folder of runs: a store that is being filled, or an archive of Parquet files."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.store = Store(folder) if (self.folder / FILE).is_file() else None
        if self.store is None and not (self.folder / archive.PLAN).is_file():
            raise UserError(
                f"{folder} holds no runs ({FILE} or {archive.PLAN}); `run` writes them to {LOCAL}"
            )

    @property
    def runs(self) -> pd.DataFrame:
        return self.store.frame("runs") if self.store else archive.read_runs(self.folder)

    @property
    def plan(self) -> pd.DataFrame:
        return self.store.frame("planned") if self.store else archive.read_plan(self.folder)

    @property
    def facts(self) -> dict[str, dict[str, dict[str, Any]]]:
        if self.store is None:
            return archive.read_facts(self.folder)
        return {kind: self.store.facts(kind) for kind in archive.KINDS}

    def predicted(self, key: str) -> Prediction | None:
        """What a run predicted, where that is kept."""
        return archive.prediction_of(self.store or self.folder, key)


@dataclass(frozen=True, eq=False)
class Runs:
    """All planned runs with their outcomes, and the facts about what they are of, by slug.

    ``frame`` has one row per experiment x planned run: ``experiment``, ``repeat`` and every column
    of the table of runs. What has not been run has the status "" and no scores. Whole numbers that
    may be missing are floats. ``store`` is the folder they were read from.
    """

    frame: pd.DataFrame
    datasets: Facts
    learners: Facts
    environments: Facts
    store: Path

    def name(self, slug: str) -> str:
        """What tables call a learner or a dataset."""
        facts = self.learners.get(slug) or self.datasets.get(slug) or {}
        return str(facts.get("name", slug))

    def told(self, values: Iterable[tuple[Any, float]], how: str) -> str:
        """``GradTree 0.712, CART 0.698``: numbers of learners or datasets, formatted by ``how``."""
        return ", ".join(f"{self.name(str(slug))} {value:{how}}" for slug, value in values)

    @cached_property
    def places(self) -> dict[tuple[str, str], pd.DataFrame]:
        """The rows of each (protocol, experiment)."""
        grouped = self.frame.groupby(["protocol", "experiment"], sort=False)
        return {(str(p), str(e)): part for (p, e), part in grouped}

    def of(self, protocol: str, experiment: str) -> pd.DataFrame:
        """The rows of one experiment under one protocol; none if it was not planned."""
        return self.places.get((protocol, experiment), self.frame.iloc[:0])

    @cached_property
    def winners(self) -> pd.DataFrame:
        """The winners of our search; a store's own before the committed."""
        paths = (archive.COMMITTED.parent / WINNERS, self.store / WINNERS)
        parts = [pd.read_csv(path, keep_default_na=False) for path in paths if path.is_file()]
        subject = ["protocol", "dataset", "method"]
        found = pd.concat(parts or [pd.DataFrame(columns=subject)])
        return found.drop_duplicates(subject, keep="last").sort_values(subject, ignore_index=True)


def load(
    store: Path | str | None = None, params: Literal["published", "ours"] = "published"
) -> Runs:
    """The runs of a folder, an archive or a store (the committed ones if not given). ``ours`` takes
    what our search found for the tuned experiment.
    """
    source, known = Source(archive.COMMITTED if store is None else store), archive.read_facts()
    plan, facts = source.plan, source.facts
    facts = {kind: {**known[kind], **facts[kind]} for kind in archive.KINDS}
    if params == "ours":
        plan = as_tuned(plan)
    datasets, learners, environments = (facts[kind] for kind in archive.KINDS)
    return Runs(joined(plan, source.runs), datasets, learners, environments, source.folder)


def joined(plan: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """One row per experiment x planned run, in the order of the tables."""
    texts = ["experiment", "protocol", "dataset", "method", "repeat", "key"]
    plan = plan.astype({**dict.fromkeys(texts, object), "trial": int, "seed": int})
    order = ["protocol", "experiment", "dataset", "method", "trial", "seed", "repeat"]
    kept = [name for name in runs if name == "key" or name not in PLANNED]
    frame = plan.sort_values(order).merge(runs[kept], on="key", how="left")
    blank = [c.name for c in COLUMNS if c.type is str and c.name in frame]
    wholes = [c.name for c in COLUMNS if c.type is int and c.name in frame]
    counts = set(wholes) - {"trial", "seed"}
    return frame.fillna(dict.fromkeys(blank, "")).astype(dict.fromkeys(counts, float))


def as_tuned(plan: pd.DataFrame) -> pd.DataFrame:
    """A plan with our search's winners for the published settings; DL8.5 has nothing to search."""
    kept = plan[(plan["experiment"] != "tuned") | (plan["method"] == "dl85")]
    return kept.assign(experiment=kept["experiment"].replace({"searched": "tuned"}))
