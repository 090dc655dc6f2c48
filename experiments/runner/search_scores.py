"""What searches found, small enough to commit: every score, and the winners.

``<folder>/<protocol>/<dataset>.csv`` has one line per candidate and, per method, its mean macro F1
over the folds (or how it failed) and the processor seconds it took, none where it equals an
earlier candidate. ``<folder>/winners.csv`` has the best candidate of every finished search.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.errors import UserError
from experiments.runner.candidates import Subject, candidate, complete, space_of
from experiments.runs.archive import COMMITTED
from experiments.runs.job import canonical_json

if TYPE_CHECKING:
    import pandas as pd

FOLDER = COMMITTED.parent / "search"
WINNERS = "winners.csv"
SECONDS = "_seconds"
PLACE = ["protocol", "dataset", "method"]
COLUMNS = [*PLACE, "sampler", "trials", "failed", "number", "score", "params", "published"]


def folder_of(store: Path) -> Path:
    return store / "search"


def read_scores(folder: Path, protocol: str, dataset: str) -> pd.DataFrame:
    """The table of one dataset as texts, by number of the candidate; empty if there is none."""
    path = folder / protocol / f"{dataset}.csv"
    return _read_scores(path, path.stat().st_mtime_ns if path.is_file() else 0)


@cache
def _read_scores(path: Path, modified: int) -> pd.DataFrame:
    import pandas as pd

    if not modified:
        return pd.DataFrame(index=pd.Index([], dtype=int, name="number"))
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    return table.set_index(table.pop("number").astype(int))


def write_scores(folder: Path, subject: Subject, outcomes: Mapping[int, tuple[str, str]]) -> None:
    """Put score and seconds of every candidate of one search into the table of its dataset."""
    import pandas as pd

    table = read_scores(folder, subject.protocol, subject.dataset)
    new = pd.DataFrame.from_dict(
        dict(outcomes), orient="index", columns=[subject.method, subject.method + SECONDS]
    )
    table = new.combine_first(table).fillna("").sort_index()
    methods = sorted(name for name in table if not name.endswith(SECONDS))
    path = folder / subject.protocol / f"{subject.dataset}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    ordered = table[[name for each in methods for name in (each, each + SECONDS)]]
    _replace(path, ordered.to_csv(index_label="number", lineterminator="\n"))


def merge_scores(source: Path, folder: Path) -> int:
    """Add the scores and winners of another folder; how many searches it had."""
    merged = 0
    for path in sorted(source.glob("*/*.csv")):
        table = read_scores(source, path.parent.name, path.stem)
        for method in [name for name in table if not name.endswith(SECONDS)]:
            pairs = zip(table[method], table[method + SECONDS], strict=True)
            outcomes = {n: pair for n, pair in zip(table.index, pairs, strict=True) if pair[0]}
            write_scores(folder, Subject(path.parent.name, path.stem, method), outcomes)
            merged += 1
    theirs = read_winners(source)
    if len(theirs):
        write_winners(folder, theirs)
    return merged


def read_winners(folder: Path) -> pd.DataFrame:
    """The winners in a folder, as texts."""
    import pandas as pd

    path = folder / WINNERS
    if not path.is_file():
        return pd.DataFrame(columns=COLUMNS)
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def write_winners(folder: Path, new: pd.DataFrame) -> None:
    """Add winners, replacing older ones of the same search.

    One found among more candidates stays: the shorter search is the beginning of the longer one.
    """
    import pandas as pd

    both = pd.concat([read_winners(folder), new], ignore_index=True)
    both["new"], both["count"] = both.index, both["trials"].astype(int)
    latest = both.groupby(PLACE)["sampler"].transform("last")
    both = both[both["sampler"] == latest].sort_values([*PLACE, "count", "new"])
    folder.mkdir(parents=True, exist_ok=True)
    kept = both.drop_duplicates(PLACE, keep="last")[COLUMNS]
    _replace(folder / WINNERS, kept.to_csv(index=False, lineterminator="\n"))


def winner(
    subject: Subject,
    sampler: str,
    trials: int,
    failed: int,
    best: tuple[int, float, dict[str, Any]],
) -> dict[str, str]:
    """A line of the table of winners."""
    number, score, params = best
    published = complete(subject, {})
    return {
        **{name: getattr(subject, name) for name in PLACE},
        "sampler": sampler,
        "trials": str(trials),
        "failed": str(failed),
        "number": str(number),
        "score": repr(score),
        "params": canonical_json(params),
        "published": canonical_json(
            {name: published.get(name) for name in space_of(subject.method)}
        ),
    }


def _replace(path: Path, text: str) -> None:
    beside = path.with_suffix(".part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def winning_params(
    store: Path, protocol: str, dataset: str, method: str, budget: int | None = None
) -> dict[str, Any]:
    """All parameters of the winner, or of the best among the first ``budget`` candidates.

    As found in the store where that has been searched, else as committed; the published ones where
    every candidate was skipped.
    """
    subject = Subject(protocol, dataset, method)
    for folder in (folder_of(store), FOLDER):
        found = _winners(folder, _modified(folder / WINNERS)).get(subject)
        if found is not None:
            params, trials = found
            if budget is not None and budget < trials:
                params = candidate(dataset, method, best_of(store, subject, budget))
            return complete(subject, params)
    for folder in (folder_of(store), FOLDER):
        table = read_scores(folder, protocol, dataset)
        if method in table and set(table[method]) - {""} == {"skipped"}:
            return complete(subject, {})  # will be skipped, and say why
    raise UserError(
        f"no search of {method} on {dataset} under {protocol} has been finished; run\n"
        f"  python -m experiments search --protocol {protocol} --dataset {dataset} "
        f"--method {method} --store {store}"
    )


def best_of(store: Path, subject: Subject, budget: int) -> int:
    """The number of the best candidate among the first; 0 where none of them had a score."""
    import pandas as pd

    for folder in (folder_of(store), FOLDER):
        table = read_scores(folder, subject.protocol, subject.dataset)
        if subject.method not in table:
            continue
        first = table[subject.method].reindex(range(budget), fill_value="")
        if (first != "").all():
            scores = pd.to_numeric(first, errors="coerce")
            return int(scores.idxmax()) if scores.notna().any() else 0
    raise UserError(
        f"the scores of {subject.method} on {subject.dataset} under {subject.protocol} are not "
        f"kept, so the best of {budget} is not known; run\n"
        f"  python -m experiments search --protocol {subject.protocol} --dataset {subject.dataset} "
        f"--method {subject.method} --store {store}"
    )


def _modified(path: Path) -> int:
    return path.stat().st_mtime_ns if path.is_file() else 0


@cache
def _winners(folder: Path, modified: int) -> dict[Subject, tuple[dict[str, Any], int]]:
    return {
        Subject(row["protocol"], row["dataset"], row["method"]): (
            json.loads(row["params"]),
            int(row["trials"]),
        )
        for row in read_winners(folder).to_dict("records")
    }
