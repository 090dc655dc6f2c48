"""Two learners over datasets: differences of means, intervals, signs, tests; and their tables."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.analysis import stats
from experiments.analysis.answer import Figure, Format, Table
from experiments.analysis.grids import cells
from experiments.analysis.printed import Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import FEWEST_DATASETS, TIE, mean_of

SCOPES = {"binary": "binary", "multi": "multi-class", "all": "all"}
PROTOCOLS = ("paper", "clean")
Side = tuple[str, str, str]
"""protocol, experiment, method"""
Line = dict[str, Any]


@lru_cache(maxsize=512)
def _complete(runs: Runs, side: Side, metric: str) -> tuple[pd.Series, pd.Series]:
    """Mean and trials by dataset, of the datasets that have every trial."""
    *place, method = side
    found = cells(runs, *place, metric)
    own = found[found.index.isin([method], level="method") & (found["n"] == found["expected"])]
    own = own.droplevel("method").sort_index()
    return own["mean"], own["trials"]


def means(runs: Runs, side: Side, metric: str = "test_f1") -> pd.Series:
    """Mean over trials by dataset, of the datasets that have every trial."""
    return _complete(runs, side, metric)[0]


def differences(runs: Runs, mine: Side, other: Side, metric: str = "test_f1") -> pd.Series:
    """Mean of one side minus that of the other, by dataset that both have with the same trials."""
    (one, trials), (two, others) = (_complete(runs, side, metric) for side in (mine, other))
    shared = [slug for slug in one.index if slug in two.index and trials[slug] == others[slug]]
    return one[shared] - two[shared]


def slugs_of(printed: Printed, scope: str = "all") -> list[str]:
    """The paper's datasets of a task, or ``all``, in its order."""
    tasks = printed.datasets["task"]
    return list(tasks.index if scope == "all" else tasks.index[tasks == scope])


def in_scope(values: pd.Series, printed: Printed, scope: str = "all") -> pd.Series:
    """The values of the paper's datasets of a task, in its order."""
    return values[[slug for slug in slugs_of(printed, scope) if slug in values.index]]


def contrast(values: Iterable[float]) -> Line | None:
    """Mean difference, bootstrap interval, signs and Wilcoxon's p; ``None`` for few datasets."""
    known = list(values)
    if len(known) < FEWEST_DATASETS:
        return None
    estimate, low, high = stats.bootstrap(known)
    line = {"n": len(known), "difference": estimate, "low": low, "high": high}
    return {**line, **signs(known), "p": stats.wilcoxon(known)}


def signs(values: Sequence[float]) -> Line:
    """Wins, ties and losses, and all three as a text."""
    wins, losses = sum(v > TIE for v in values), sum(v < -TIE for v in values)
    ties = len(values) - wins - losses
    return {"wins": wins, "ties": ties, "losses": losses, "signs": f"{wins}-{ties}-{losses}"}


def contrasts(
    runs: Runs, printed: Printed, places: Iterable[tuple[Line, Side, Side]], metric: str = "test_f1"
) -> pd.DataFrame:
    """Contrasts of pairs by task over the paper's datasets, Holm's correction over all of them.

    Parameters
    ----------
    places : what to call a line, and its two sides.
    metric : whose means ``mine`` and ``theirs`` are, over the same datasets.
    """
    lines = []
    for line, mine, other in places:
        gaps = differences(runs, mine, other)
        for scope in SCOPES:
            own = in_scope(gaps, printed, scope)
            found = contrast(own)
            if found is not None:
                pair = [mean_of(means(runs, side, metric)[own.index]) for side in (mine, other)]
                line = {**line, "scope": scope, "of": len(slugs_of(printed, scope))}
                lines.append({**line, "mine": pair[0], "theirs": pair[1], **found})
    return with_holm(lines)


def with_holm(lines: Sequence[Line]) -> pd.DataFrame:
    """Lines of contrasts as a frame, with Holm's correction over all of them."""
    frame = pd.DataFrame(list(lines))
    return frame.assign(holm=stats.holm(frame["p"].tolist())) if len(frame) else frame


def estimate(values: Iterable[float], chances: bool = True) -> Line | None:
    """What a mean difference over datasets says, without a test; ``None`` for few datasets.

    Student's interval of the mean, wins, ties and losses, the interval that one more dataset is
    predicted in and, for scores up to 1, the chances of a Bayesian signed-rank test.
    """
    known = list(values)
    if len(known) < FEWEST_DATASETS:
        return None
    mean, new = stats.t_interval(known), stats.new_dataset(known)
    line: Line = {"n": len(known), "difference": mean.estimate, "low": mean.low, "high": mean.high}
    line |= {**signs(known), "new low": new.low, "new high": new.high}
    told = stats.bayesian_signed_rank(known)._asdict() if chances else {}
    return line | {name: told.get(name) for name in ("better", "equivalent", "worse")}


COUNTS = (
    *("n", "datasets", "of", "wins", "ties", "losses", "gain", "stay", "lose", "seeds", "runs"),
    *("candidates", "trials", "stable", "same", "errors", "better", "worse"),
)
SIGNED = ("difference", "change", "lower quartile", "median", "upper quartile")
DECIMALS = {
    **dict.fromkeys(("nodes", "leaves", "mean rank", "ratio", "Ratio"), 1),
    **dict.fromkeys(("rank", "path", "CPU s", "kept", "Seconds", "CPU seconds", "P"), 2),
    "mean distance": 4,
}


@cache
def _declared() -> dict[str, dict[str, Any]]:
    path = Path(__file__).parent / "questions" / "tables.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def table(
    name: str,
    frame: pd.DataFrame,
    names: Callable[[str], str] = str,
    protocol: str = "",
    declared: str = "",
    **words: str,
) -> Table:
    """A table as ``tables.toml`` declares it, its numbers shown by column name.

    Parameters
    ----------
    names : of learners, where the frame has slugs.
    declared : its name there if not the file's own.
    words : what stands in braces in its title and caption.
    """
    entry = dict(_declared()[declared or name])
    entry |= {key: entry[key].format(**words) for key in ("title", "caption") if words}
    formats, columns = entry.pop("formats", {}), entry.pop("columns", None)
    entry["notes"] = tuple(entry.get("notes", ()))
    shown = frame
    if columns is not None:
        shared = {key: _declared()["columns"][key] for key in columns if columns[key] == "*"}
        flat = [each for key in columns for each in shared.get(key, {key: columns[key]}).items()]
        shown = frame.reindex(columns=list(dict(flat)))  # all there, though nothing has been run
        slugs = {key: names for key in ("method", "against") if key in columns}
        slugs |= {"scope": SCOPES.__getitem__} if "scope" in columns else {}
        shown = shown.assign(**{key: shown[key].map(of) for key, of in slugs.items()})
        shown = shown.rename(columns=dict(flat))
    signed = {each.rpartition(": ")[2] for each in shown} & set(SIGNED)
    made = {}
    for column in shown.columns:
        group, _, short = column.rpartition(": ")
        kind = "p" if short in ("p", "p (Holm)") else "count" if short in COUNTS else "number"
        if short in SIGNED or (signed and short in ("low", "high")):
            kind = "change"
        plain = {"decimals": DECIMALS.get(group, DECIMALS.get(short, 3)), "kind": kind}
        given = formats.get(group) or formats.get(short) or formats.get("*", {})
        made[column] = Format(**{**plain, **given}, group=group)
    return Table(name=name, frame=shown, protocol=protocol, formats=made, **entry)


def figure(name: str, draw: Callable[[], Any]) -> Figure:
    """A figure with the caption of ``tables.toml``."""
    return Figure(name, _declared()["figures"][name], draw)


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
