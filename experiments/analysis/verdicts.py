"""A verdict on every printed number: is ours the paper's, as good as the paper's, or not?

A cell is two means of ten trials, of which the paper prints mean and population deviation (made a
sample deviation first). A printed figure stands for any number that rounds to it.

``better`` or ``worse``: Welch's t-test, with Holm's correction within a table, finds a difference,
though the printed mean is taken half a unit of its last digit nearer to ours and the deviation half
a unit larger. ``equivalent``: two one-sided Welch tests find the difference within a margin, though
the printed mean is taken half a unit farther away. ``undecided``: too noisy to tell.

Fewer trials than the paper's are taken to spread at least as much as those. Both sides use the same
splits, but the paper's single trials are not published: no paired test is possible, and unpaired
ones err towards ``undecided``. Over a column the datasets are paired: see ``summary_verdicts``.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtr

from experiments.analysis import stats
from experiments.analysis.answer import Declared, Grid
from experiments.analysis.grids import added, declarations, grid, printed_grid
from experiments.analysis.printed import TASKS, Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import FEWEST_DATASETS, LEVEL, Numbers, stable
from experiments.runs.schema import BY_NAME

OUTCOMES = ("exact", "equivalent", "undecided", "better", "worse", "missing")
UNDECIDED = "too noisy to tell"
IN_WORDS = {outcome: outcome for outcome in OUTCOMES} | {"undecided": UNDECIDED}
"""What pages call the outcomes of the CSV files."""
SCORE_MARGIN, RELATIVE_MARGIN = 0.02, 0.1
"""How far two means may be apart and be equivalent: of a score in [0, 1]; of a printed size."""
COLUMN_MARGIN, RANK_MARGIN = 0.01, 0.05
"""The same of a mean difference over the datasets of a column of scores; of an MRR or MRD."""
ROUNDING_SLACK = 1e-9
"""Both ways of rounding a figure that lies in the middle count as equal."""
AUTHORS_DECIMALS = 3
"""To so many the authors' code rounds what the paper prints, in the size table with two only."""
TRIALS_TRIED = sorted({*range(2, 31), *np.geomspace(30, 1000, 60).astype(int).tolist()})
GAP = "Train-test difference"
CSV_COLUMNS = (
    *("table", "task", "dataset", "method"),
    *("ours_mean", "ours_std", "ours_n", "paper_mean", "paper_std"),
    *("difference", "p_value", "p_adjusted", "p_equivalent", "outcome", "note"),
)
"""Of ``results/verdicts.csv``."""


@lru_cache(maxsize=8)
def verdicts(runs: Runs, printed: Printed) -> pd.DataFrame:
    """All cells that the paper prints, in the order of its tables; ``CSV_COLUMNS`` and more.

    ``counted`` are numbers held against the paper, each once and not of another machine's seconds;
    ``trials_needed`` are those of ours that would decide an ``undecided`` cell of equal means.
    """
    parts = []
    for name, table in declarations()["paper"].items():
        known = printed.inconsistencies
        known = known[(known["table"] == name) & (known["field"] == "missing")]
        meant = known.set_index(["dataset", "method"])["recomputed"].to_dict()
        found = judge(grid(runs, name).frame, printed.of(name), table, meant)
        found.insert(0, "table", name)
        found["counted"] = found["paper_mean"].notna() & (not table.machine_dependent)
        open_ = found["outcome"] == "undecided"
        found.loc[open_, "trials_needed"] = trials_needed(found[open_], table)
        parts.append(found)
    every, seen = pd.concat(parts, ignore_index=True), list[object]()
    for (_, task, method), part in every.groupby(["table", "task", "method"], sort=False):
        numbers = part[["dataset", "paper_mean", "paper_std"]].dropna().to_numpy().tolist()
        every.loc[part.index, "counted"] &= (task, method, numbers) not in seen
        seen.append((task, method, numbers))
    return every


def judge(
    ours: pd.DataFrame,
    theirs: pd.DataFrame,
    table: Declared,
    misprints: Mapping[tuple[str, str], str] | None = None,
) -> pd.DataFrame:
    """Verdicts on the cells of one table; ``misprints``: what printed reasons should have been."""
    place, sides = ["dataset", "method"], ["mean", "std", "n", "missing"]
    paper = theirs.set_index(place)[sides].add_prefix("paper_").reset_index()
    mine = ours.drop(columns="rank", errors="ignore")
    both = mine.rename(columns={c: f"ours_{c}" for c in sides}).merge(paper, on=place)
    tested = both["ours_mean"].notna() & both["paper_mean"].notna()
    both["difference"] = both["ours_mean"] - both["paper_mean"]
    both[["p_value", "p_adjusted", "p_equivalent"]] = math.nan
    reason, theirs_none = both["ours_missing"], both["paper_mean"].isna()
    meant = [(misprints or {}).get(each) for each in zip(*map(both.get, place), strict=True)]
    alike = theirs_none & ((reason == both["paper_missing"]) | (reason == meant))
    told = ["both " + reason, "the paper prints " + both["paper_missing"]]
    both["outcome"] = np.where(alike, "exact", "missing")
    both["note"] = np.select([alike, theirs_none], told, reason.replace("", "not run"))
    if tested.any():
        cells = both[tested].copy()
        cells["p_value"] = welch(cells, table)
        cells["p_equivalent"] = p_of_equivalence(cells, table)
        cells["p_adjusted"] = stats.holm(cells["p_value"])
        gain = (cells["difference"] < 0) == table.smaller_is_better
        differ, direction = cells["p_adjusted"] < LEVEL, np.where(gain, "better", "worse")
        grounds = [prints_alike(cells, table), differ, cells["p_equivalent"] < LEVEL]
        cells["outcome"] = np.select(grounds, ["exact", direction, "equivalent"], "undecided")
        few, bare = cells["ours_n"] < cells["paper_n"], cells["paper_std"].isna()
        trials = cells["ours_n"].astype(str) + " of " + cells["paper_n"].astype(str) + " trials"
        cells["note"] = np.select([few, bare], [trials, "no deviation is printed"], "")
        both.loc[tested] = cells
    return both


def margins(table: Declared, printed: Numbers) -> Numbers:
    """What two means may differ by and still be called equivalent, per printed mean."""
    score = table.metric in BY_NAME and BY_NAME[table.metric].high == 1.0
    margin = table.margin or (SCORE_MARGIN if score else None)
    return RELATIVE_MARGIN * printed if margin is None else np.full(len(printed), margin)


def half_unit(decimals: int) -> float:
    return 0.5 * 10.0**-decimals


def prints_alike(cells: pd.DataFrame, table: Declared) -> NDArray[np.bool_]:
    """Equal mean and deviation at the printed digits, from as many trials."""
    mean, std = (
        rounds_to(cells[f"ours_{name}"].to_numpy(), cells[f"paper_{name}"].to_numpy(), decimals)
        for name, decimals in (("mean", table.decimals), ("std", table.std_decimals))
    )
    enough = (cells["ours_n"] >= cells["paper_n"]).to_numpy()
    return enough & mean & (std | cells["paper_std"].isna().to_numpy())


def rounds_to(values: Numbers, printed: Numbers, decimals: int) -> NDArray[np.bool_]:
    """Whether values print as these figures, directly or by way of the authors' own rounding."""
    reach = half_unit(decimals) + ROUNDING_SLACK
    rounded = np.array([round(float(value), AUTHORS_DECIMALS) for value in values])
    return (np.abs(values - printed) <= reach) | (np.abs(rounded - printed) <= reach)


def welch(cells: pd.DataFrame, table: Declared) -> Numbers:
    """Two-sided p-values; see the module's text for how printed figures are taken."""
    apart = np.maximum(0.0, cells["difference"].abs().to_numpy() - half_unit(table.decimals))
    error, degrees = _standard_error(cells, table)
    return np.array([stable(p) for p in 2 * stdtr(degrees, -apart / error)])


def p_of_equivalence(cells: pd.DataFrame, table: Declared) -> Numbers:
    """The larger p-value of two one-sided tests that the means differ by more than the margin."""
    apart = cells["difference"].abs().to_numpy() + half_unit(table.decimals)
    error, degrees = _standard_error(cells, table)
    slack = margins(table, cells["paper_mean"].to_numpy()) - apart
    return np.array([stable(p) for p in stdtr(degrees, -slack / error)])


def _standard_error(cells: pd.DataFrame, table: Declared) -> tuple[Numbers, Numbers]:
    """Standard errors of differences of two means, and Welch's degrees of freedom."""
    n, m = cells["ours_n"].to_numpy(float), cells["paper_n"].to_numpy(float)
    our_std, their_std = cells["ours_std"].to_numpy(), cells["paper_std"].to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        theirs = (their_std + half_unit(table.std_decimals)) ** 2 / (m - 1)
        own = np.where(n < m, np.maximum(our_std, their_std), our_std) ** 2 / (n - 1)
        degrees = (own + theirs) ** 2 / (own**2 / (n - 1) + theirs**2 / (m - 1))
    # one trial has no spread of its own: it is taken to have the paper's
    own = np.where(n > 1, own, theirs * m)
    return np.sqrt(own + theirs), np.where(n > 1, degrees, m - 1)


def trials_needed(cells: pd.DataFrame, table: Declared) -> Numbers:
    """How many trials of ours would show two equal means to be equivalent; infinite where none."""
    every = cells.assign(difference=0.0).iloc[np.repeat(range(len(cells)), len(TRIALS_TRIED))]
    every = every.assign(ours_n=TRIALS_TRIED * len(cells))
    enough = p_of_equivalence(every, table).reshape(-1, len(TRIALS_TRIED)) < LEVEL
    return np.where(enough.any(axis=1), np.array(TRIALS_TRIED)[enough.argmax(axis=1)], math.inf)


def summary_verdicts(runs: Runs, printed: Printed) -> pd.DataFrame:
    """The summary values the paper prints beside ours: lines below its tables, then Table 3.

    Both are means over the same datasets, so the difference has an interval over datasets. A margin
    is 0.01 of a mean F1, a tenth of a size, 0.05 of an MRR or MRD.
    """
    lines: list[dict[str, object]] = []
    sources = (lambda name: grid(runs, name)), (lambda name: printed_grid(name, printed))
    for name, table in declarations()["paper"].items():
        rows = printed.summaries[printed.summaries["table"] == name].dropna(subset="value")
        if table.machine_dependent:
            continue
        for (task, statistic), part in rows.groupby(["task", "statistic"], sort=False):
            sides = [added(source(name), str(task), str(statistic)) for source in sources]
            smaller = {"Mean": table.smaller_is_better, "MRD": True}.get(str(statistic), False)
            for method, value in zip(part["method"], part["value"], strict=True):
                margin = RANK_MARGIN
                if statistic == "Mean":
                    margin = COLUMN_MARGIN if table.decimals == 3 else RELATIVE_MARGIN * value
                line = {"table": name, "task": task, "statistic": statistic, "method": method}
                mine, theirs = (side[method] for side in sides)
                numbers = (mine, theirs, float(value), table.decimals)
                lines.append(line | _summary(*numbers, margin, smaller))
    for task in TASKS:
        train, test = (
            [added(source(name), task, "Mean") for source in sources]
            for name in ("train-f1-tuned", "test-f1-tuned")
        )
        for method, value in printed.summary[f"train_test_diff_{task}"].items():
            mine, theirs = (a[method] - b[method] for a, b in zip(train, test, strict=True))
            line = {"table": "summary", "task": task, "statistic": GAP, "method": method}
            lines.append(line | _summary(mine, theirs, float(value), 3, COLUMN_MARGIN, True))
    found = pd.DataFrame(lines)
    mean = found["statistic"] == "Mean"
    repeated = found.duplicated(["task", "statistic", "method", "paper_value"]) & mean
    return found.assign(counted=~repeated)


def _summary(
    ours: pd.Series, theirs: pd.Series, value: float, digits: int, margin: float, smaller: bool
) -> dict[str, object]:
    """The verdict on one printed summary value, from what each dataset adds to it."""
    mine, cells = stats.over_datasets(ours)["value"], stats.over_datasets(theirs)["value"]
    digits = max(digits, len(str(value).partition(".")[2]))
    apart = (ours - theirs).dropna()
    difference, low, high = mine - value, math.nan, math.nan
    outcome = "missing" if math.isnan(mine) else "undecided"
    if len(apart) >= FEWEST_DATASETS:
        shifted = apart - apart.mean() + difference
        _, low, high = stats.t_interval(shifted)
        if stats.equivalence(shifted, margin) < LEVEL:
            outcome = "equivalent"
        elif low > 0 or high < 0:
            outcome = "better" if (difference < 0) == smaller else "worse"
    alike, consistent = rounds_to(np.array([mine, cells]), np.full(2, value), digits)
    outcome = "exact" if alike else outcome
    note = "" if consistent else f"the paper's own cells give {cells:.{digits}f}"
    line = {"paper_value": value, "ours_value": mine, "difference": difference}
    return {**line, "low": low, "high": high, "outcome": outcome, "note": note}


def tally(found: pd.DataFrame) -> dict[str, int]:
    """How many verdicts there are of each outcome."""
    counts = found["outcome"].value_counts()
    return {outcome: int(counts.get(outcome, 0)) for outcome in OUTCOMES}


def beside(cells: pd.DataFrame, judged: pd.DataFrame) -> pd.DataFrame:
    """Cells of ours with the printed ones and the verdicts."""
    columns = ["dataset", "method", "paper_mean", "paper_std", "paper_missing", "outcome"]
    found = judged[columns].rename(columns={"outcome": "verdict"})
    return cells.merge(found, on=["dataset", "method"], how="left")


def with_verdicts(table: Grid, found: pd.DataFrame, printed: Printed) -> Grid:
    """A table of the paper with the printed cells and verdicts beside ours."""
    lines = printed.summaries[printed.summaries["table"] == table.name].drop(columns="table")
    lines = lines.rename(columns={c: f"paper_{c}" for c in ("value", "spread", "rank")})
    summary = table.summary.merge(lines, on=["task", "statistic", "method"], how="left")
    frame = beside(table.frame, found[found["table"] == table.name])
    return replace(table, frame=frame, summary=summary.astype({"paper_rank": "Int64"}))
