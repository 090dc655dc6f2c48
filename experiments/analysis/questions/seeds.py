"""How much do GradTree's scores depend on its random draws?

The published hyperparameters were chosen with the authors' draws. The experiment ``seeds`` fits
the same configurations with ten other seeds of another stream, ``seeds-authors-stream`` with ten
other seeds of the authors' own.
"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from experiments.analysis import pairwise
from experiments.analysis.answer import Answer, figure, table
from experiments.analysis.printed import TASK_NAMES, Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import mean_of, sample_std

METHOD, PROTOCOL = "gradtree", "paper"
STREAMS = {
    "seeds-authors-stream": "other seeds of the authors' stream",
    "seeds": "other seeds of another stream",
}


def by_seed(runs: Runs, experiment: str) -> pd.DataFrame:
    """Mean test F1 over trials: a row per dataset, a column per seed; NaN where one is missing."""
    rows = runs.of(PROTOCOL, experiment)
    rows = rows[rows["method"] == METHOD]
    scores = rows["test_f1"].where(rows["status"] == "ok")
    means = scores.groupby([rows["dataset"], rows["seed"]]).agg(
        lambda own: math.nan if own.isna().any() else mean_of(own)
    )
    return means.unstack("seed") if len(rows) else pd.DataFrame()


def printed_cells(printed: Printed) -> pd.Series:
    """Printed test F1 of tuned GradTree by dataset."""
    cells = printed.of("test-f1-tuned")
    return cells[cells["method"] == METHOD].set_index("dataset")["mean"]


def seeds(runs: Runs, printed: Printed, experiment: str) -> pd.DataFrame:
    """Tuned GradTree: printed, with the authors' draws, and over the seeds with all trials."""
    others, theirs = by_seed(runs, experiment), printed_cells(printed)
    drawn = pairwise.means(runs, (PROTOCOL, "tuned", METHOD))
    rows = []
    for dataset in printed.datasets.itertuples():
        own = list(others.loc[dataset.slug].dropna()) if dataset.slug in others.index else []
        if own:
            row = {"Dataset": dataset.name, "Task": TASK_NAMES[dataset.task]}
            row |= {"paper": theirs[dataset.slug], "authors' draws": drawn.get(dataset.slug)}
            row |= {"other seeds": mean_of(own), "other seeds spread": sample_std(own)}
            rows.append({**row, "seeds": len(own)})
    return pd.DataFrame(rows)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found = {name: seeds(runs, printed, name) for name in STREAMS}
    found = {name: frame for name, frame in found.items() if len(frame)}
    if not found:
        return None
    first = next(iter(found))
    return Answer(
        "seeds",
        "How much do GradTree's scores depend on the random draws?",
        tuple(line for name, frame in found.items() for line in _sentences(name, frame)),
        tuple(table(name, frame, protocol=PROTOCOL) for name, frame in found.items()),
        (figure("other-draws", lambda: _draw(found[first])),),
        shown=(first,),
    )


def _sentences(name: str, frame: pd.DataFrame) -> list[str]:
    whole = frame.dropna()
    if whole.empty:
        return []
    spread = whole["other seeds spread"]
    widest = spread.idxmax()
    printed, drawn, other = (
        mean_of(whole[column]) for column in ("paper", "authors' draws", "other seeds")
    )
    below = (whole["other seeds"] < whole["paper"]).sum()
    sentences = [
        f"A cell moves by {mean_of(spread):.3f} (standard deviation over {whole['seeds'].max()} "
        f"{STREAMS[name]}), most on {whole['Dataset'][widest]} ({spread[widest]:.3f}).",
        f"The mean over {len(whole)} datasets is {printed:.3f} in the paper, {drawn:.3f} here "
        f"with the authors' draws and {other:.3f} with {STREAMS[name]}, which fall below the "
        f"printed number on {below} datasets: the published settings were chosen with the "
        "authors' draws.",
    ]
    if name == "seeds":
        sentences.append("These runs change the stream of random numbers along with the seed.")
    return sentences


def _draw(frame: pd.DataFrame) -> Any:
    from experiments.analysis import drawing

    with drawing.look():
        figure = drawing.canvas(5.0, 0.8 + 0.15 * len(frame))
        axes = figure.add_subplot()
        look, rows = drawing.mark_of(METHOD), range(len(frame))
        bar: Any = {"fmt": "|", "color": drawing.PAPER_MARK, "markersize": 6, "elinewidth": 4}
        spread = frame["other seeds spread"].fillna(0)
        axes.errorbar(frame["other seeds"], rows, xerr=spread, label="other seeds", **bar)
        for column, face in (("paper", "#ffffff"), ("authors' draws", look.colour)):
            mark: Any = {"color": look.colour, "markerfacecolor": face, "markersize": 4}
            axes.plot(frame[column], rows, look.marker, label=column, **mark)
        axes.set_yticks(rows, frame["Dataset"])
        axes.set_ylim(len(frame) - 0.4, -0.6)
        axes.set_xlabel("Mean test F1")
        drawing.quiet(axes, left=False)
        figure.legend(loc="outside upper left", ncols=3)
        return figure


QUESTIONS = {90: answer}
