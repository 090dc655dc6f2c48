"""Does a rounding of the training rows change GradTree's scores, and does that explain the paper's?

Training in single precision follows the order in which numbers are added. The experiment
``stability`` fits every tuned trial five more times with training rows moved by about one unit of
float32, ``stability-tf32`` by the rounding of a GPU's TF32 arithmetic. A trial is stable if its
test F1 stays the same to the last digit in all refits, a cell if all its trials are.
"""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis.answer import Answer, table
from experiments.analysis.pairwise import means
from experiments.analysis.printed import TASK_NAMES, Printed
from experiments.analysis.questions import seeds
from experiments.analysis.runs import Runs
from experiments.analysis.stats import mean_of

METHOD, PROTOCOL = "gradtree", "paper"
REFITS = 5
STEPS = {"stability": "about one unit of float32", "stability-tf32": "the rounding of TF32 (2⁻¹¹)"}
OWN = ("perturbation", "perturbation_step")
"""Parameters of the refit alone."""
IDENTITY = ["dataset", "trial", "seed", "content_hash", "protocol_version", "method_version"]


def refits(runs: Runs, experiment: str) -> pd.DataFrame:
    """A row per tuned trial with all its refits: dataset, trial, its test F1, and those."""
    sides = []
    for name in ("tuned", experiment):
        rows = runs.of(PROTOCOL, name)
        rows = rows[(rows["method"] == METHOD) & (rows["status"] == "ok")]
        sides.append(rows.assign(settings=[_settings(text) for text in rows["params"]]))
    place = [*IDENTITY, "settings"]
    fits, again = sides
    grouped = again.sort_values("repeat").groupby(place)["test_f1"].agg(tuple)
    found = fits[[*place, "test_f1"]].merge(grouped.rename("refits"), on=place)
    return found[found["refits"].map(len) >= REFITS]


def _settings(params: str) -> str:
    kept = {name: value for name, value in json.loads(params).items() if name not in OWN}
    return json.dumps(kept, sort_keys=True)


def stability(found: pd.DataFrame, printed: Printed) -> pd.DataFrame:
    """Per dataset: trials, those that keep their score, and the largest change."""
    both = zip(found["test_f1"], found["refits"], strict=True)
    moves = [max(abs(again - f1) for again in own) for f1, own in both]
    grouped = dict(list(pd.Series(moves, index=found["dataset"], dtype=float).groupby(level=0)))
    rows = []
    for dataset in printed.datasets.itertuples():
        own = grouped.get(dataset.slug)
        if own is not None:
            kept = int((own == 0).sum())
            row = {"Dataset": dataset.name, "Task": TASK_NAMES[dataset.task], "trials": len(own)}
            row |= {"stable": kept, "largest change": own.max()}
            rows.append({**row, "cell": "stable" if kept == len(own) else "fragile"})
    return pd.DataFrame(rows)


def distances(runs: Runs, printed: Printed) -> dict[str, float]:
    """Mean distance, over datasets, of two numbers for the same cell, by what sets them apart."""
    off = (means(runs, (PROTOCOL, "tuned", METHOD)) - seeds.printed_cells(printed)).dropna()
    found = {"the printed number": mean_of(off.abs())} if len(off) else {}
    for experiment, step in STEPS.items():
        fits = refits(runs, experiment)
        if len(fits):
            wide = pd.DataFrame(fits["refits"].str[:REFITS].tolist()).groupby(list(fits["dataset"]))
            found[f"a refit with rows moved by {step}"] = _between(wide.mean())
    for experiment, words in seeds.STREAMS.items():
        drawn = seeds.by_seed(runs, experiment)
        if len(drawn):
            found[words.replace("other seeds", "another seed")] = _between(drawn.dropna())
    return found


def _between(columns: pd.DataFrame) -> float:
    """Mean absolute difference of two columns, over all pairs."""
    pairs = combinations(columns.to_numpy(float).T, 2)
    return float(np.mean([np.abs(one - other).mean() for one, other in pairs]))


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found = {name: stability(refits(runs, name), printed) for name in STEPS}
    found = {name: frame for name, frame in found.items() if len(frame)}
    if not found:
        return None
    far = distances(runs, printed)
    return Answer(
        "stability",
        "Does rounding explain the distance from the printed numbers?",
        tuple(_sentences(runs, printed, found, far)),
        tuple(table(name, frame, protocol=PROTOCOL) for name, frame in found.items()),
        shown=(next(iter(found)),),
    )


def _sentences(
    runs: Runs, printed: Printed, found: dict[str, pd.DataFrame], far: dict[str, float]
) -> list[str]:
    sentences: list[str] = []
    told = [f"{value:.4f} for {words}" for words, value in far.items()]
    refit = max((v for w, v in far.items() if w.startswith("a refit")), default=0.0)
    if told:
        word = "Not by itself" if far.get("the printed number", 0.0) > refit else "It may"
        sentences.append(f"{word}: mean distance of a cell of tuned GradTree is {', '.join(told)}.")
    theirs = seeds.printed_cells(printed)
    off = (means(runs, (PROTOCOL, "tuned", METHOD)) - theirs).dropna().abs()
    names = printed.datasets.set_index("name")["slug"]
    for name, frame in found.items():
        sure = frame["cell"] == "stable"
        sentences.append(
            f"Of {frame['trials'].sum()} trials refitted with rows moved by {STEPS[name]}, "
            f"{frame['stable'].sum()} keep their test F1 in every refit; {sure.sum()} of "
            f"{len(frame)} cells are stable in all trials."
        )
        groups = [off.reindex(names[frame.loc[at, "Dataset"]]).dropna() for at in (sure, ~sure)]
        if all(len(group) for group in groups):
            stable, fragile = map(mean_of, groups)
            sentences.append(
                f"Stable cells are {stable:.4f} from the printed number, fragile ones "
                f"{fragile:.4f}" + (": rounding is not the reason." if stable >= fragile else ".")
            )
    correlation = _correlation(runs, theirs)
    if correlation is not None:
        sentences.append(
            "Deviations from the mean over seeds, in units of the spread between seeds, correlate "
            f"with the paper's ({correlation:.2f}): the draws are the same ones. Why the rest "
            "differs is not known."
        )
    return sentences


def _correlation(runs: Runs, theirs: pd.Series) -> float | None:
    """Of ours and the paper's deviations from the mean over other seeds, in units of their own."""
    drawn: Any = seeds.by_seed(runs, "seeds")
    ours = means(runs, (PROTOCOL, "tuned", METHOD))
    if not len(drawn):
        return None
    both = pd.DataFrame({"ours": ours, "paper": theirs}).dropna().reindex(drawn.index).dropna()
    away = both.sub(drawn.mean(axis=1), axis=0).div(drawn.std(axis=1), axis=0)
    away = away.replace([np.inf, -np.inf], np.nan).dropna()
    return float(away["ours"].corr(away["paper"])) if len(away) > 2 else None


QUESTIONS = {100: answer}
