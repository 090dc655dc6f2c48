"""Two learners over datasets: differences of means, intervals, signs and tests, and their words."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pandas as pd

from experiments.analysis import stats
from experiments.analysis.answer import Answer, figure, table
from experiments.analysis.grids import cells
from experiments.analysis.printed import SCOPES, Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import FEWEST_DATASETS, TIE, mean_of
from experiments.errors import UserError
from experiments.runs.archive import why_no_probabilities
from experiments.runs.schema import Column

PROTOCOLS = ("paper", "clean")
LIMITS = ("difference", "low", "high")
OUTCOME = (
    *("train_f1", "valid_f1", "test_f1", "test_accuracy", "test_balanced_accuracy"),
    *("test_roc_auc", "test_log_loss", "tree_size", "depth", "leaves", "epochs"),
)
"""What is equal in two fits that came out the same."""
Side = tuple[str, str, str]
"""protocol, experiment, method"""
Line = dict[str, Any]
Place = tuple[Line, Side, Side]
"""A line, and whose scores it compares."""


def scores(runs: Runs, protocol: str, experiment: str, metric: str = "test_f1") -> pd.DataFrame:
    """Means over trials, datasets x methods; NaN where a trial is missing."""
    found = cells(runs, protocol, experiment, metric)
    return found.loc[found["n"] == found["expected"], "mean"].unstack("method")


@lru_cache(maxsize=4096)
def _side(runs: Runs, side: Side, metric: str) -> pd.DataFrame:
    """The cells of one side that have every trial, by dataset."""
    *place, method = side
    found = cells(runs, *place, metric)
    found = found[(found["n"] == found["expected"]) & found.index.isin([method], "method")]
    return found.droplevel("method")


def means(runs: Runs, side: Side, metric: str = "test_f1") -> pd.Series:
    """Mean over trials by dataset, of the datasets that have every trial."""
    return _side(runs, side, metric)["mean"]


def differences(runs: Runs, mine: Side, other: Side, metric: str = "test_f1") -> pd.Series:
    """Mean of one side minus that of the other, by dataset that both have with the same trials."""
    one, two = (_side(runs, side, metric) for side in (mine, other))
    both = one.index.intersection(two.index)
    same = one.loc[both, "trials"] == two.loc[both, "trials"]
    return one.loc[both[same], "mean"] - two.loc[both[same], "mean"]


def alike(one: pd.DataFrame, two: pd.DataFrame) -> pd.Series:
    """By line, whether two fits came out the same, to the last digit."""
    one, two = one[list(OUTCOME)], two[list(OUTCOME)]
    return ((one == two) | (one.isna() & two.isna())).all(axis=1)


def in_scope(values: pd.Series, printed: Printed, scope: str = "all") -> pd.Series:
    """The values of the paper's datasets of a task, or ``all``, in its order."""
    tasks = printed.datasets.loc[printed.datasets.index.isin(values.index), "task"]
    return values[tasks.index[tasks.eq(scope) | (scope == "all")]]


def contrast(values: Iterable[float]) -> Line | None:
    """Mean difference, Student's interval, signs and Wilcoxon's p; ``None`` for few datasets."""
    known = list(values)
    if len(known) < FEWEST_DATASETS:
        return None
    line: Line = {"n": len(known), **dict(zip(LIMITS, stats.t_interval(known), strict=True))}
    return {**line, **signs(known), "p": stats.wilcoxon(known)}


def signs(values: Sequence[float]) -> Line:
    """Wins, ties and losses, and all three as a text."""
    wins, losses = sum(v > TIE for v in values), sum(v < -TIE for v in values)
    ties = len(values) - wins - losses
    return {"wins": wins, "ties": ties, "losses": losses, "signs": f"{wins}-{ties}-{losses}"}


def contrasts(lines: Iterable[tuple[Line, Line | None]]) -> pd.DataFrame:
    """Places with what was found there, if anything; Holm's correction over all of them."""
    frame = pd.DataFrame([{**place, **found} for place, found in lines if found is not None])
    return frame.assign(holm=stats.holm(frame.get("p", pd.Series())))


def by_task(
    runs: Runs, printed: Printed, places: Iterable[Place], metric: str = "test_f1"
) -> pd.DataFrame:
    """Contrasts of places by task over the paper's datasets; means of ``metric`` of both sides."""
    lines = []
    for place, mine, other in places:
        gaps = differences(runs, mine, other)
        for scope in SCOPES:
            own = in_scope(gaps, printed, scope)
            pair = {"mine": mine, "theirs": other} if len(own) else {}
            line = {s: mean_of(means(runs, side, metric)[own.index]) for s, side in pair.items()}
            lines.append(({**place, "scope": scope, **line}, contrast(own)))
    return contrasts(lines)


def estimate(values: Iterable[float], chances: bool = True) -> Line | None:
    """A contrast, what to expect of one more dataset and, for scores up to 1, the ``chances``."""
    known = list(values)
    if line := contrast(known):
        _, line["new low"], line["new high"] = stats.t_interval(known, 1)
        told = stats.bayesian_signed_rank(known) if chances else (None, None, None)
        line |= dict(zip(stats.Chances._fields, told, strict=True))
    return line


def interval(line: Any, decimals: int = 3) -> str:
    """``+0.013 [-0.009, +0.036]``: a difference with its limits; what rounds to zero has a sign."""
    low, high = line["low"], line["high"]
    return f"{line['difference']:+.{decimals}f} [{low:+.{decimals}f}, {high:+.{decimals}f}]"


def rows(frame: pd.DataFrame, **equal: str) -> list[Line]:
    """The lines of a frame with these values, as dictionaries."""
    for column, value in equal.items():
        frame = frame[frame[column] == value] if len(frame) else frame
    return [dict(line) for line in frame.to_dict("records")]


def told(lines: Iterable[Line], words: str = "({scope})") -> str:
    """Intervals of several lines in a row: ``+0.013 [...] (binary) and ...``."""
    spelled = ({**line, "scope": SCOPES.get(line.get("scope", ""), "")} for line in lines)
    return listed([f"{interval(line)} {words.format(**line)}" for line in spelled])


def listed(parts: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def standing(line: Any) -> str:
    """What a tested difference comes to: ``better than`` where the signs agree with it."""
    sure = line["holm"] < stats.LEVEL and line["difference"] * (line["wins"] - line["losses"]) > 0
    word = "better than" if line["difference"] > 0 else "worse than"
    return word if sure else "not shown to differ from"


# Learners against a reference, for the verb ``compare`` and for tables of plug-ins

NAME, EXPERIMENT = "comparison", "default"


def compare(
    runs: Runs,
    protocol: str,
    mine: Sequence[str],
    others: Sequence[str],
    metrics: Sequence[Column],
    experiment: str = EXPERIMENT,
) -> Answer:
    """Whether some learners are better than the first of the others, by each metric."""
    asked, reference, lines = mine or others[1:], runs.name(others[0]), list[Line]()
    rows = runs.of(protocol, experiment)
    every, gaps = list(rows["dataset"].unique()), list[str]()
    datasets, scores = dict[str, list[str]](), list[pd.DataFrame]()
    for metric in metrics:
        found = {m: means(runs, (protocol, experiment, m), metric.name) for m in (*mine, *others)}
        word = metric.in_tables
        for method, own in found.items():
            if lacks := [runs.name(slug) for slug in every if slug not in own.index]:
                gap = f"{runs.name(method)} lacks {word} in some trial on {listed(lacks)}"
                gaps.append(f"{gap}{_why(rows, method, metric.name)}.")
        # who has no number at all must not take that of the others away
        found = {m: own for m, own in found.items() if len(own) or m == others[0]}
        shared = [slug for slug in every if all(slug in own.index for own in found.values())]
        if shared and len(found) > 1:
            datasets.setdefault(listed([runs.name(slug) for slug in shared]), []).append(word)
            lines += _lines(frame := pd.DataFrame(found).loc[shared], metric, others[0])
            frame = frame.rename(runs.name, axis="columns").rename(runs.name)
            scores.append(frame.assign(Metric=word).set_index("Metric", append=True))
    if not lines:
        raise UserError(f"the learners share no dataset to be compared on\n{' '.join(gaps)}")
    tested = [line for line in lines if "p" in line]
    for line, p in zip(tested, stats.holm([line["p"] for line in tested]), strict=True):
        line["holm"] = p
    names, trials = listed([runs.name(m) for m in asked]), str(rows["trial"].nunique())
    told = [_sentence(line, runs, reference) for line in lines if line["method"] in asked]
    notes = (*(f"Datasets ({listed(each)}): {some}." for some, each in datasets.items()), *gaps)
    default = experiment == EXPERIMENT
    setting = "default hyperparameters" if default else f"experiment {experiment}"
    words = {"learners": names, "reference": reference, "trials": trials, "setting": setting}
    made = table(NAME, pd.DataFrame(lines), runs.name, protocol, **words)
    drawn = figure(NAME, lambda: _draw(lines, runs, reference), made.caption)
    title = f"{'Is' if len(asked) == 1 else 'Are'} {names} better than {reference}?"
    extra = {"scores": pd.concat(scores).rename_axis(["Dataset", "Metric"]).reset_index()}
    made = replace(made, notes=notes)
    return Answer(NAME, title, (*told, *notes), (made,), (drawn,), extra=extra)


def _why(frame: pd.DataFrame, method: str, metric: str) -> str:
    """In brackets, why runs of a learner that ended well have no number."""
    rows = frame[(frame["method"] == method) & (frame["status"] == "ok") & frame[metric].isna()]
    reasons = [why for extra in rows["extra"] if (why := why_no_probabilities(extra))]
    return f" ({reasons[0]})" if reasons else ""


def _lines(scores: pd.DataFrame, metric: Column, reference: str) -> Iterator[Line]:
    """A line per learner: mean, mean rank and, against the reference, what the datasets say."""
    less = metric.better == "low"
    ranks = scores.rank(axis=1, ascending=less).mean()
    for method in scores:
        line: Line = {"metric": metric.in_tables, "method": method, "n": len(scores)}
        line |= {"mean": mean_of(scores[method].tolist()), "rank": ranks[method]}
        if method != reference:
            ahead = ((scores[method] - scores[reference]) * (-1 if less else 1)).tolist()
            line |= {"difference": mean_of(ahead), **signs(ahead), "score": metric.high <= 1}
            line |= estimate(ahead, chances=not less and metric.high <= 1) or {}
        yield line


def _sentence(line: Line, runs: Runs, reference: str) -> str:
    """What one learner comes to by one metric."""
    word, by, test = "not shown to differ from", f"{line['difference']:+.3f}", "too few to test"
    if "holm" in line:
        word, by, test = standing(line), interval(line), f"p = {line['holm']:.2g}"
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
