"""What GradTree finds that greedy trees miss: columns that tell something only together.

``scripts/interactions.py`` makes the tables and fits the trees; nothing of it is a planned run.
"""

from pathlib import Path
from typing import Any

import pandas as pd

from experiments.analysis.answer import Answer, table
from experiments.analysis.pairwise import listed
from experiments.analysis.printed import Printed
from experiments.analysis.runs import Runs
from experiments.runs.archive import COMMITTED

FITS = Path("bench") / "interactions.csv"
"""Of a store, or of the folder of results."""
MARGIN, MOST_NODES = 0.02, 30


def answer(runs: Runs, printed: Printed) -> Answer | None:
    path = (COMMITTED.parent if runs.store == COMMITTED else runs.store) / FITS
    if not path.is_file():
        return None
    fits = pd.read_csv(path)
    fits["near"] = fits["accuracy"] >= fits["truth"] - MARGIN
    fits["found"] = fits["near"] & (fits["nodes"] < MOST_NODES)
    by = fits.groupby(["learner", "table"], sort=False)
    means, counts = by[["accuracy", "nodes"]].mean(), by["found"].sum()
    names = list(dict.fromkeys(fits["table"]))
    columns: dict[str, Any] = {"Table": names}
    columns["truth"] = fits.groupby("table")["truth"].mean()[names].to_numpy()
    learners = list(dict.fromkeys(fits["learner"]))
    for learner in learners:
        own = means.loc[learner].loc[names].join(counts[learner])
        columns |= {f"{learner}: {name}": own[name].to_numpy() for name in own}
    n = fits.groupby(["learner", "table"]).size().max()
    made = table("interactions", pd.DataFrame(columns), draws=str(n))
    total = len(fits) // len(learners)
    found = [f"{name} in {counts[name].sum()}" for name in learners[::-1]]
    told = (
        f"Interactions without marginal effects: of {total} draws of {len(names)} tables the truth "
        f"is found (accuracy on new rows at most {MARGIN} below it) with fewer than {MOST_NODES} "
        f"nodes by {listed(found)}."
    )
    large = fits[fits["near"] & ~fits["found"]].groupby("learner").size()
    more = [f"{name} in {large[name]}" for name in learners if name in large]
    rest = f"With {MOST_NODES} nodes or more it is found by {listed(more)}." if more else ""
    title = "What does GradTree find that greedy trees miss?"
    return Answer("interactions", title, [told, *filter(None, [rest])], [made])


QUESTIONS = {32: answer}
