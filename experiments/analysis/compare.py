"""Learners against a reference, over the datasets that all of them have: one table and figure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.analysis import stats
from experiments.analysis.answer import Answer, Figure
from experiments.analysis.pairwise import Line, estimate, interval, listed, means, signs, table
from experiments.analysis.runs import Runs, load
from experiments.analysis.stats import mean_of
from experiments.errors import UserError
from experiments.runs.schema import BY_NAME

NAME, EXPERIMENT = "comparison", "default"


def gathered(store: Path, done: pd.DataFrame, protocol: str, keys: Collection[str]) -> Runs:
    """The runs of some jobs: those of a store beside those that are done elsewhere."""
    own = load(store)
    frame = pd.concat([done, own.of(protocol, EXPERIMENT)]).drop_duplicates("key")
    return replace(own, frame=frame[frame["key"].isin(keys)].reset_index(drop=True))


def compare(
    runs: Runs, protocol: str, mine: Sequence[str], others: Sequence[str], metrics: Sequence[str]
) -> Answer:
    """Whether some learners are better than the first of the others, by each metric."""
    asked, reference, lines = mine or others[1:], runs.name(others[0]), list[Line]()
    every, gaps = list(dict.fromkeys(runs.frame["dataset"])), list[str]()
    datasets = dict[str, list[str]]()
    for metric in metrics:
        found = {m: means(runs, (protocol, EXPERIMENT, m), metric) for m in (*mine, *others)}
        shared = [slug for slug in every if all(slug in own.index for own in found.values())]
        word = BY_NAME[metric].in_tables
        for method, own in found.items():
            if lacks := [runs.name(slug) for slug in every if slug not in own.index]:
                gaps.append(f"{runs.name(method)} lacks {word} in some trial on {listed(lacks)}.")
        if shared:
            datasets.setdefault(listed([runs.name(slug) for slug in shared]), []).append(word)
            lines += _lines(pd.DataFrame(found).loc[shared], metric, others[0])
    if not lines:
        raise UserError(f"the learners share no dataset to be compared on\n{' '.join(gaps)}")
    tested = [line for line in lines if "p" in line]
    for line, p in zip(tested, stats.holm([line["p"] for line in tested]), strict=True):
        line["holm"] = p
    names, trials = listed([runs.name(m) for m in asked]), str(runs.frame["trial"].nunique())
    told = [_sentence(line, runs, reference) for line in lines if line["method"] in asked]
    notes = (*(f"Datasets ({listed(each)}): {some}." for some, each in datasets.items()), *gaps)
    words = {"learners": names, "reference": reference, "trials": trials}
    made = table(NAME, pd.DataFrame(lines), runs.name, protocol, **words)
    figure = Figure(NAME, made.caption, lambda: _draw(lines, runs, reference))
    title = f"{'Is' if len(asked) == 1 else 'Are'} {names} better than {reference}?"
    return Answer(NAME, title, (*told, *notes), (replace(made, notes=notes),), (figure,))


def _lines(scores: pd.DataFrame, metric: str, reference: str) -> Iterator[Line]:
    """A line per learner: mean, mean rank and, against the reference, what the datasets say."""
    column, less = BY_NAME[metric], BY_NAME[metric].better == "low"
    ranks = scores.rank(axis=1, ascending=less).mean()
    for method in scores:
        line: Line = {"metric": column.in_tables, "method": method, "n": len(scores)}
        line |= {"mean": mean_of(scores[method].tolist()), "rank": ranks[method]}
        if method != reference:
            ahead = ((scores[method] - scores[reference]) * (-1 if less else 1)).tolist()
            line |= {"difference": mean_of(ahead), **signs(ahead), "score": column.high <= 1}
            if found := estimate(ahead, chances=not less and column.high <= 1):
                line |= {**found, "p": stats.wilcoxon(ahead)}
        yield line


def _sentence(line: Line, runs: Runs, reference: str) -> str:
    """What one learner comes to by one metric."""
    word, by, test = "not shown to differ from", f"{line['difference']:+.3f}", "too few to test"
    if "holm" in line:
        by, test = interval(line), f"p = {line['holm']:.2g}"
        if line["holm"] < stats.LEVEL and line["difference"] * (line["wins"] - line["losses"]) > 0:
            word = "better than" if line["difference"] > 0 else "worse than"
    told = f"In {line['metric']} {runs.name(line['method'])} is {word} {reference}: {by}"
    told += f" over {line['n']} dataset{'s'[: line['n'] - 1]}"
    told += f" (wins-ties-losses {line['signs']}, {test})"
    chances = "; chances: {better:.2f} better, {equivalent:.2f} equivalent, {worse:.2f} worse"
    return f"{told}{'' if line.get('better') is None else chances.format(**line)}."


def _draw(lines: Sequence[Line], runs: Runs, reference: str) -> Any:
    """Differences by the first metric and, if it is a score up to 1, by all that are."""
    from experiments.analysis.drawing import forest

    against = [line for line in lines if "difference" in line]
    first = against[0]
    drawn = [
        {"low": line["difference"], "high": line["difference"], **line}
        | {"group": line["metric"], "label": runs.name(line["method"]), "note": line["signs"]}
        | {"filled": line.get("holm", 1.0) < stats.LEVEL}
        for line in against
        if line["metric"] == first["metric"] or (line["score"] and first["score"])
    ]
    return forest(drawn, f"Better than {reference} by", width=5.0)
