"""What the paper prints: its cells and summary lines in the shape of ours, and its other tables."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.errors import UserError

FOLDER = Path(__file__).resolve().parents[2] / "results" / "paper"
TRIALS = 10
TASKS = ("binary", "multi")
TASK_NAMES = {"binary": "Binary", "multi": "Multi-class"}
SCOPES = {"binary": "binary", "multi": "multi-class", "all": "all"}
"""What sentences and tables call the datasets of a task, or all of them."""
TABLES = {
    "test-f1-tuned": "test_f1_optimized",
    "test-f1-default": "test_f1_default",
    "train-f1-tuned": "train_f1_optimized",
    "tree-size-tuned": "tree_size",
    "runtime": "runtime_seconds",
    "ablation-tuned": "ablation_optimized",
    "ablation-default": "ablation_default",
}
"""Name of a table -> stem of the CSVs with its printed cells and summary lines."""
METHODS = {
    "GradTree": "gradtree",
    "DNDT": "dndt",
    "GeneticTree": "genetictree",
    "DL8.5": "dl85",
    "CART": "cart",
    "ST Entmax": "gradtree",
    "ST Gumbel Softmax": "gradtree-gumbel",
    "Temperature Annealing": "gradtree-annealed",
}
TUNED_METHODS = ("gradtree", "dndt", "genetictree", "cart")
"""The methods with a table of tuned hyperparameters (DL8.5 has none to tune)."""
MISSING = {"ok": "", ">60min": ">60 min"}
"""How the ``status`` of a printed cell is spelled in a table; others stand as they are."""


@dataclass(frozen=True, eq=False)
class Printed:
    """Everything the paper prints; learners and datasets by slug.

    ``cells`` and ``summaries`` are shaped like ours, ``datasets`` are in the paper's order (22
    binary, then 14 multi-class), ``summary`` is Table 3 with a row per method, ``penalty`` has
    columns ``penalty`` and ``no_penalty``, ``hyperparameters`` a frame of texts per method,
    ``inconsistencies`` printed figures that the printed cells contradict.
    """

    cells: pd.DataFrame
    summaries: pd.DataFrame
    datasets: pd.DataFrame
    summary: pd.DataFrame
    penalty: pd.DataFrame
    hyperparameters: Mapping[str, pd.DataFrame]
    inconsistencies: pd.DataFrame

    def of(self, table: str) -> pd.DataFrame:
        """The printed cells of one table."""
        return self.cells[self.cells["table"] == table]

    def labelled(self, lines: pd.DataFrame) -> pd.DataFrame:
        """Lines by dataset, in the paper's order, after columns of its name and task."""
        facts = self.datasets[self.datasets.index.isin(lines.index)]
        names = pd.DataFrame({"Dataset": facts["name"], "Task": facts["task"].map(TASK_NAMES)})
        return names.join(lines).reset_index(drop=True)


@cache
def printed(folder: Path = FOLDER) -> Printed:
    """All printed tables of a folder of CSVs."""
    names = {"dataset": "name", "samples_by_class": "class_counts"}
    specs = _read(folder, "dataset_specs").rename(columns=names)
    specs.insert(0, "slug", specs["name"].map(slug))
    known = tomllib.loads((folder / "inconsistencies.toml").read_text(encoding="utf-8"))
    texts, settings = {"dtype": str, "keep_default_na": False}, {}
    for method in TUNED_METHODS:
        own = _read(folder, f"hyperparameters_{method}", **texts)
        settings[method] = own.set_index(own.pop("dataset").map(slug))
    return Printed(
        cells=pd.concat([_cells(folder, name) for name in TABLES], ignore_index=True),
        summaries=pd.concat([_summaries(folder, name) for name in TABLES], ignore_index=True),
        datasets=specs.set_index("slug", drop=False),
        summary=_read(folder, "summary").set_index("method"),
        penalty=_read(folder, "genetictree_penalty").set_index(["task", "measure"]),
        hyperparameters=settings,
        inconsistencies=pd.DataFrame(known["inconsistency"]).fillna(""),
    )


def slug(name: str) -> str:
    """Identifier of a dataset from its printed name."""
    return name.lower().replace(" ", "-")


def _cells(folder: Path, table: str) -> pd.DataFrame:
    rows = _read(folder, TABLES[table])
    rows["missing"] = rows["status"].replace(MISSING)
    rows = rows.assign(table=table, n=(rows["missing"] == "") * TRIALS)
    rows["dataset"] = rows["dataset"].map(slug)
    return rows[["table", "task", "dataset", "method", "mean", "std", "n", "rank", "missing"]]


def _summaries(folder: Path, table: str) -> pd.DataFrame:
    rows = _read(folder, f"{TABLES[table]}_summary")
    rows = rows.rename(columns={"mean": "value", "std": "spread"}).assign(table=table)
    return rows[["table", "task", "statistic", "method", "value", "spread", "rank"]]


def _read(folder: Path, stem: str, **options: Any) -> pd.DataFrame:
    """Numbers as they are written: to the last digit."""
    path = folder / f"{stem}.csv"
    if not path.is_file():
        raise UserError(f"{path} is missing; restore it: `git checkout -- results/paper`")
    rows = pd.read_csv(path, float_precision="round_trip", **options)
    return rows.replace({"method": METHODS})
