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
from typing import Any

import pandas as pd

from experiments.errors import UserError
from experiments.runner.candidates import Subject, candidate, complete, space_of
from experiments.runs.archive import COMMITTED
from experiments.runs.job import canonical_json

FOLDER = COMMITTED.parent / "search"
WINNERS = "winners.csv"
SECONDS = "_seconds"
PLACE = ["protocol", "dataset", "method"]
COLUMNS = [*PLACE, "sampler", "trials", "failed", "number", "score", "params", "published"]


def folder_of(store: Path) -> Path:
    return store / "search"


def _modified(path: Path) -> int:
    """Tells the versions of a file apart; 0 if there is none."""
    return path.stat().st_mtime_ns if path.is_file() else 0


def _replace(path: Path, table: pd.DataFrame, **options: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    table.to_csv(beside, lineterminator="\n", **options)
    beside.replace(path)


def read_scores(folder: Path, protocol: str, dataset: str) -> pd.DataFrame:
    """The table of one dataset as texts, by number of the candidate; empty if there is none."""
    path = folder / protocol / f"{dataset}.csv"
    return _read_scores(path, _modified(path))


@cache
def _read_scores(path: Path, modified: int) -> pd.DataFrame:
    if not modified:
        return pd.DataFrame(index=pd.Index([], dtype=int, name="number"))
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    return table.set_index(table.pop("number").astype(int))


def outcomes_of(table: pd.DataFrame, method: str) -> dict[int, tuple[str, str]]:
    """Score (or how it failed) and seconds of a method's candidates, by number."""
    if method not in table:
        return {}
    columns = zip(table.index, table[method], table[method + SECONDS], strict=True)
    return {int(number): (score, seconds) for number, score, seconds in columns if score}


def write_scores(folder: Path, subject: Subject, outcomes: Mapping[int, tuple[str, str]]) -> None:
    """Put score and seconds of every candidate of one search into the table of its dataset."""
    table = read_scores(folder, subject.protocol, subject.dataset)
    new = pd.DataFrame.from_dict(
        dict(outcomes), orient="index", columns=[subject.method, subject.method + SECONDS]
    )
    table = new.combine_first(table).fillna("").sort_index()
    methods = sorted(name for name in table if not name.endswith(SECONDS))
    ordered = table[[name for each in methods for name in (each, each + SECONDS)]]
    path = folder / subject.protocol / f"{subject.dataset}.csv"
    _replace(path, ordered, index_label="number")


def merge_scores(source: Path, folder: Path) -> None:
    """Add the scores and winners of another folder."""
    for path in sorted(source.glob("*/*.csv")):
        table = read_scores(source, path.parent.name, path.stem)
        for method in [name for name in table if not name.endswith(SECONDS)]:
            subject = Subject(path.parent.name, path.stem, method)
            write_scores(folder, subject, outcomes_of(table, method))
    theirs = read_winners(source)
    if len(theirs):
        write_winners(folder, theirs)


def read_winners(folder: Path) -> pd.DataFrame:
    """The winners in a folder, as texts."""
    path = folder / WINNERS
    if not path.is_file():
        return pd.DataFrame(columns=COLUMNS)
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def write_winners(folder: Path, new: pd.DataFrame) -> None:
    """Add winners, replacing older ones of the same search.

    One found among more candidates stays: the shorter search is the beginning of the longer one.
    """
    both = pd.concat([read_winners(folder), new], ignore_index=True)
    both["new"], both["count"] = both.index, both["trials"].astype(int)
    latest = both.groupby(PLACE)["sampler"].transform("last")
    both = both[both["sampler"] == latest].sort_values([*PLACE, "count", "new"])
    kept = both.drop_duplicates(PLACE, keep="last")[COLUMNS]
    _replace(folder / WINNERS, kept, index=False)


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
    texts = {"sampler": sampler, "trials": str(trials), "failed": str(failed)}
    return {
        **{name: getattr(subject, name) for name in PLACE},
        **texts,
        "number": str(number),
        "score": repr(score),
        "params": canonical_json(params),
        "published": canonical_json({n: published.get(n) for n in space_of(subject.method)}),
    }


def winning_params(
    store: Path, protocol: str, dataset: str, method: str, budget: int | None = None
) -> dict[str, Any]:
    """All parameters of the winner, or of the best among the first ``budget`` candidates.

    As found in the store where that has been searched, else as committed; the published ones where
    every candidate was skipped.
    """
    subject, folders = Subject(protocol, dataset, method), (folder_of(store), FOLDER)
    for folder in folders:
        found = _winners(folder, _modified(folder / WINNERS)).get(subject)
        if found is not None:
            params, trials = found
            if budget is not None and budget < trials:
                params = candidate(dataset, method, best_of(store, subject, budget))
            return complete(subject, params)
    for folder in folders:
        known = outcomes_of(read_scores(folder, protocol, dataset), method)
        if {score for score, _ in known.values()} == {"skipped"}:
            return complete(subject, {})  # will be skipped, and say why
    raise _unknown(subject, store, "has not been finished")


def best_of(store: Path, subject: Subject, budget: int) -> int:
    """The number of the best candidate among the first; 0 where none of them had a score."""
    for folder in (folder_of(store), FOLDER):
        known = outcomes_of(read_scores(folder, subject.protocol, subject.dataset), subject.method)
        if all(number in known for number in range(budget)):
            scores = {n: float(known[n][0]) for n in range(budget) if known[n][0][0].isdigit()}
            return max(scores, key=lambda n: (scores[n], -n), default=0)
    raise _unknown(subject, store, f"has kept too few scores to know the best of {budget}")


def _unknown(subject: Subject, store: Path, why: str) -> UserError:
    return UserError(
        f"the search of {subject.method} on {subject.dataset} under {subject.protocol} {why}; run\n"
        f"  python -m experiments search --protocol {subject.protocol} --dataset {subject.dataset} "
        f"--method {subject.method} --store {store}"
    )


@cache
def _winners(folder: Path, modified: int) -> dict[Subject, tuple[dict[str, Any], int]]:
    return {
        Subject(*(row[name] for name in PLACE)): (json.loads(row["params"]), int(row["trials"]))
        for row in read_winners(folder).to_dict("records")
    }
