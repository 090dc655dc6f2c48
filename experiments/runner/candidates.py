"""The candidates of a search (the space, the draw, the job and its cross-validation) and what
searches found, small enough to commit.

Under ``paper``, folds are cut as the authors did for the baselines: from the encoded, rebalanced
training and validation rows of the split, so that a row's copies and its leaking codes fall on
both sides. Under ``clean``, folds are cut from the raw rows and everything is learned inside them.

``<folder>/<protocol>/<dataset>.csv`` has one line per candidate and, per method, its mean macro F1
over the folds (or how it failed) and the processor seconds it took, none where it equals an
earlier candidate. ``<folder>/winners.csv`` has the best candidate of every finished search.
"""

import hashlib
import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from datasets.split import Parts, Split
from experiments.errors import UserError
from experiments.runner import registry
from experiments.runner.experiments import MODEL_SEED, Subject, identity_of, params_of
from experiments.runner.plan import FITS_OF_FOLDS, seconds_of
from experiments.runner.run_job import cannot, frozen, load_split, timed_fit
from experiments.runner.scores import f1_on
from experiments.runs.archive import COMMITTED
from experiments.runs.schema import Job, canonical_json

SEED = 42
FOLDS = 3
DURING_SEARCH: Mapping[str, Mapping[str, Any]] = {"gradtree": {"restarts": 0}}
"""Candidates are compared without restarts; the winner gets the paper's number of them."""
FIRST_TRIAL = 0
"""The paper tuned on the split of data seed 42 alone."""
STOPPING_SHARE = 0.1
"""Of a fold's training rows, for learners that stop early; the others train on all of them."""
FOLDER = COMMITTED.parent / "search"
WINNERS = "winners.csv"
SECONDS = "_seconds"
PLACE = ["protocol", "dataset", "method"]
COLUMNS = [*PLACE, "sampler", "trials", "failed", "number", "score", "params", "published"]


def draw(choices: Sequence[Any], *what_for: Any) -> Any:
    """One of ``choices``, decided by a hash of ``what_for`` and by nothing else."""
    digest = hashlib.sha256(canonical_json(what_for).encode()).digest()
    return choices[int.from_bytes(digest, "big") % len(choices)]


def space_of(method: str) -> Mapping[str, Sequence[Any]]:
    """The declared space of a learner; one without cannot be searched."""
    space = registry.learner(method).space
    if not space:
        searchable = [slug for slug, one in registry.entries("learner").items() if one.space]
        raise UserError(f"{method} declares no search space; these do: {', '.join(searchable)}")
    return space


def candidate(dataset: str, method: str, number: int) -> dict[str, Any]:
    """Candidate ``number``; stopping, resuming, sharding and order cannot change it."""
    return {
        name: draw(choices, SEED, dataset, method, number, name)
        for name, choices in space_of(method).items()
    }


def complete(subject: Subject, drawn: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of a learner: those drawn, the others as in the tuned experiment."""
    published = params_of("published", subject.protocol, subject.method, subject.dataset)
    return {**published, **drawn}


def candidate_job(subject: Subject, drawn: Mapping[str, Any]) -> Job:
    """Cross-validate one candidate."""
    protocol, dataset, method = astuple(subject)
    params = complete(subject, drawn) | dict(DURING_SEARCH.get(method, {}))
    simple = registry.learner(method).simplify(params, registry.facts(dataset).task)
    what = (protocol, "search", dataset, method, Job.freeze(simple), FIRST_TRIAL, MODEL_SEED)
    return Job(*what, evaluation=f"cv:{FOLDS}", **identity_of(protocol, dataset, method))


def cross_validate(job: Job) -> dict[str, Any]:
    """Fit and score a candidate on every fold; the mean is ``valid_f1``."""
    learner, count = registry.learner(job.method), int(job.evaluation.removeprefix("cv:"))
    scores, seconds = [], []
    for split in make_folds(job.dataset, job.protocol, job.trial, count):
        if skipped := cannot(learner, split, job):
            return skipped
        fitted, *spent = timed_fit(learner, split, job)
        scores.append(f1_on(fitted.estimator, split.X_test, split.y_test, split.n_classes))
        seconds.append(spent)
    wall, cpu = (round(sum(each), 4) for each in zip(*seconds, strict=True))
    extra = canonical_json({"folds": scores})
    f1 = float(np.mean(scores))
    return job.run("ok", valid_f1=f1, extra=extra, wall_seconds=wall, cpu_seconds=cpu)


@lru_cache(maxsize=2)
def make_folds(dataset: str, protocol: str, trial: int, count: int) -> tuple[Split, ...]:
    """The folds as splits: a fold to test, a tenth of the rest to stop by, the others to train."""
    split = load_split(dataset, protocol, trial)
    if registry.find("protocol", protocol).folds_anew and split.rows is not None:
        how = importlib.import_module(f"datasets.protocols.{split.provenance.protocol}")
        raw = registry.load_dataset(dataset)
        rows = np.concatenate([split.rows.train, split.rows.valid])
        parts = [Parts(*(rows[part] for part in fold)) for fold in cut(raw.y[rows], count)]
        return tuple(frozen(how.split_of(raw, part, trial)) for part in parts)
    X, y = split.X_train_valid, split.y_train_valid
    names = ("X_train", "X_valid", "X_test", "y_train", "y_valid", "y_test")
    folds = []
    for fold in cut(y, count):
        arrays: Any = zip(names, [array[part] for array in (X, y) for part in fold], strict=True)
        folds.append(frozen(replace(split, rows=None, **dict(arrays))))
    return tuple(folds)


def cut(y: NDArray[np.int64], count: int) -> Iterator[tuple[NDArray[np.intp], ...]]:
    """Stratified, shuffled folds; of each fold's other rows a tenth is set aside."""
    from sklearn.model_selection import StratifiedKFold, train_test_split

    for rest, test in StratifiedKFold(count, shuffle=True, random_state=SEED).split(y, y):
        train, stop = train_test_split(rest, test_size=STOPPING_SHARE, random_state=SEED)
        yield train, stop, test


# What searches found


def search_seconds(subject: Subject, candidates: int) -> float:
    """Processor seconds that a search is expected to take, by the committed scores."""
    found = outcomes_of(FOLDER, subject).values()
    if found:
        return sum(float(seconds or 0) for _, seconds in found) / len(found) * candidates
    return FITS_OF_FOLDS * seconds_of(subject.method, subject.dataset) * candidates


def folder_of(store: Path) -> Path:
    return store / "search"


def read(path: Path) -> pd.DataFrame:
    """A table of texts, read once until the file changes; empty if there is none."""
    return _read(path, path.stat().st_mtime_ns) if path.is_file() else pd.DataFrame()


@cache
def _read(path: Path, modified: int) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def _replace(path: Path, table: pd.DataFrame) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(beside := path.with_suffix(".part"), lineterminator="\n", index=False)
    beside.replace(path)


def outcomes_of(folder: Path, subject: Subject) -> dict[int, tuple[str, str]]:
    """Score (or how it failed) and seconds of the candidates of a search, by number."""
    path = folder / subject.protocol / f"{subject.dataset}.csv"
    return _outcomes(path, path.stat().st_mtime_ns, subject.method) if path.is_file() else {}


@cache
def _outcomes(path: Path, modified: int, method: str) -> dict[int, tuple[str, str]]:
    table, names = _read(path, modified), ["number", method, method + SECONDS]
    columns = zip(*(table[name] for name in names), strict=True) if method in table else ()
    return {int(number): (score, seconds) for number, score, seconds in columns if score}


def write_scores(folder: Path, subject: Subject, outcomes: Mapping[int, tuple[str, str]]) -> None:
    """Put score and seconds of every candidate of one search into the table of its dataset."""
    table = read(path := folder / subject.protocol / f"{subject.dataset}.csv")
    table = table.set_index(table["number"].astype(int)) if len(table) else table
    names = [subject.method, subject.method + SECONDS]
    new = pd.DataFrame.from_dict(dict(outcomes), orient="index", columns=names)
    table = new.combine_first(table.drop(columns="number", errors="ignore")).fillna("").sort_index()
    order = sorted(table, key=lambda name: (name.removesuffix(SECONDS), name))
    _replace(path, table[order].rename_axis("number").reset_index())


def merge_scores(source: Path, folder: Path) -> None:
    """Add the scores and winners of another folder."""
    for path in sorted(source.glob("*/*.csv")):
        for method in [name for name in read(path) if f"{name}{SECONDS}" in read(path)]:
            subject = Subject(path.parent.name, path.stem, method)
            write_scores(folder, subject, outcomes_of(source, subject))
    if len(theirs := read(source / WINNERS)):
        write_winners(folder, theirs)


def write_winners(folder: Path, new: pd.DataFrame) -> None:
    """Add winners, replacing older ones of the same search; one found among more candidates stays,
    since the shorter search is the beginning of the longer one.
    """
    both = pd.concat([read(folder / WINNERS), new], ignore_index=True)
    both["new"], both["count"] = both.index, both["trials"].astype(int)
    latest = both.groupby(PLACE)["sampler"].transform("last")
    both = both[both["sampler"] == latest].sort_values([*PLACE, "count", "new"])
    _replace(folder / WINNERS, both.drop_duplicates(PLACE, keep="last")[COLUMNS])


def winning_params(
    store: Path, protocol: str, dataset: str, method: str, budget: int | None = None
) -> dict[str, Any]:
    """All parameters of the winner, or of the best among the first ``budget`` candidates: as found
    in the store where that has been searched, else as committed; the published ones where every
    candidate was skipped.
    """
    subject, why = Subject(protocol, dataset, method), "has not been finished"
    for folder in (folder_of(store), FOLDER):
        path = folder / WINNERS
        winner = _winners(path, path.stat().st_mtime_ns).get(subject) if path.is_file() else None
        if winner and (budget is None or budget >= winner[1]):
            return complete(subject, winner[0])
        outcomes = outcomes_of(folder, subject)
        if winner and budget and all(number in outcomes for number in range(budget)):
            tried = {number: outcomes[number][0] for number in range(budget)}
            scores = {number: float(text) for number, text in tried.items() if text[0].isdigit()}
            best = max(scores, key=lambda number: (scores[number], -number), default=0)
            return complete(subject, candidate(dataset, method, best))
        if winner:
            why = f"has kept too few scores to know the best of {budget}"
        elif {score for score, _ in outcomes.values()} == {"skipped"}:
            return complete(subject, {})  # will be skipped, and say why
    raise UserError(
        f"the search of {method} on {dataset} under {protocol} {why}; run\n"
        f"  python -m experiments search --protocol {protocol} --dataset {dataset} "
        f"--method {method} --store {store}"
    )


@cache
def _winners(path: Path, modified: int) -> dict[Subject, tuple[dict[str, Any], int]]:
    """Parameters drawn by the winner of each search, and the number of its candidates."""
    rows = read(path)[[*PLACE, "params", "trials"]].itertuples(index=False, name=None)
    return {Subject(*place): (json.loads(drawn), int(count)) for *place, drawn, count in rows}
