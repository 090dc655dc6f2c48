"""Does it reproduce? The paper's printed numbers beside ours, by learner, column and line."""

import math
from typing import Any

import pandas as pd

from experiments.analysis import stats, verdicts
from experiments.analysis.answer import Answer, figure, table, tables
from experiments.analysis.grids import declared
from experiments.analysis.pairwise import LIMITS, interval, listed, rows
from experiments.analysis.printed import TASK_NAMES, TRIALS, Printed
from experiments.analysis.questions import draws
from experiments.analysis.runs import Runs
from experiments.analysis.stats import mean_of
from experiments.analysis.verdicts import COLUMN_MARGIN, IN_WORDS, UNDECIDED, tally

ABLATED = ("gradtree-gumbel", "gradtree-annealed")
"""Their test F1 with published settings is in ``ablation-tuned``, others' in ``test-f1-tuned``."""


def columns(runs: Runs, found: pd.DataFrame) -> pd.DataFrame:
    """Every printed column beside ours: mean difference over datasets, and is it equivalent within
    0.01 of F1 or a tenth of the mean size? Not ``counted``: stands before; ``head``: tuned test F1.
    """
    lines = []
    judged = found[found["paper_mean"].notna() & found["difference"].notna()]
    for (name, method), part in judged.groupby(["table", "method"], sort=False):
        printed, values = declared(str(name)), part["difference"]
        if printed.machine_dependent or len(part) < stats.FEWEST_DATASETS:
            continue
        size = printed.metric == "tree_size"
        margin = verdicts.RELATIVE_MARGIN * mean_of(part["paper_mean"]) if size else COLUMN_MARGIN
        learner = printed.names.get(str(method), runs.name(str(method)))
        line = {"table": name, "title": printed.title, "method": method, "learner": learner}
        line |= {"n": len(part), "alike": (part["outcome"] == "exact").sum(), "margin": margin}
        line |= dict(zip(LIMITS, stats.t_interval(values), strict=True))
        line["p"] = p = stats.equivalence(values, margin)
        line |= {"equivalent": "yes" if p < stats.LEVEL else "no"}
        line |= {"distance": mean_of(values.abs()), "counted": part["counted"].any()}
        head = "ablation-tuned" if method in ABLATED else "test-f1-tuned"
        lines.append({**line, "head": name == head})
    names = ["table", "method", "n", "equivalent", "counted", "head", "margin"]
    return pd.DataFrame(lines) if lines else pd.DataFrame(columns=names)


def learners(found: pd.DataFrame, by_column: pd.DataFrame) -> pd.DataFrame:
    """Per learner: how many numbers are printed, each counted once, and how ours compare."""
    lines = []
    for method, part in found[found["counted"]].groupby("method", sort=False):
        own = by_column[(by_column["method"] == method) & by_column["counted"].astype(bool)]
        line = {"method": method, "printed": len(part), **tally(part)}
        line |= {"differ": line["better"] + line["worse"]}
        line |= {"columns": f"{(own['equivalent'] == 'yes').sum()} of {len(own)}"}
        for head in rows(own[own["head"].astype(bool)]):
            line |= {name: head[name] for name in (*LIMITS, "distance")}
        lines.append(line)
    return pd.DataFrame(lines)


def other_splits(found: pd.DataFrame) -> dict[str, float]:
    """How far two means of normal trials would be apart with splits of their own: 2s/sqrt(pi n)."""
    own = found[(found["table"] == "test-f1-tuned") & (found["method"] == draws.METHOD)]
    own = own[own["ours_n"] > 1]
    far = 2 * own["ours_std"] / (math.pi * (own["ours_n"] - 1)) ** 0.5
    return {"two sets of ten splits": mean_of(far)} if len(far) else {}


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found = verdicts.verdicts(runs, printed)
    if found.loc[found["counted"], "difference"].isna().all():
        return None
    by_column = columns(runs, found)
    by_learner = learners(found, by_column)
    lines = verdicts.summary_verdicts(runs, printed)
    titles = {name: declared(name).title for name in set(lines["table"]) - {"summary"}}
    lines = lines.assign(
        title=lines["table"].map({**titles, "summary": "Summary"}),
        task=lines["task"].map(TASK_NAMES),
        note=lines["note"].where(lines["counted"], "printed twice; counted once"),
    )
    far = draws.distances(runs, printed) | other_splits(found)
    frames = {
        "reproduces": by_learner,
        "reproduces-columns": by_column,
        "reproduces-summaries": lines.assign(outcome=lines["outcome"].map(IN_WORDS)),
        "reproduces-yardsticks": pd.DataFrame(far.items(), columns=["Between", "mean distance"]),
        "verdicts": found[list(verdicts.CSV_COLUMNS)],
    }
    sentences = _sentences(runs, found, by_column, by_learner, lines, far)
    made, drawn = tables(frames, runs.name), figure("reproduces", lambda: _draw(runs, by_column))
    first, title = table("reproduces-first", by_learner, runs.name), "Does it reproduce?"
    extra = {"counts": tally(found[found["counted"]]), "first": first}
    shown = ["reproduces", "reproduces-yardsticks"]
    return Answer("reproduces", title, sentences, made, [drawn], shown, extra)


def _sentences(
    runs: Runs,
    found: pd.DataFrame,
    by_column: pd.DataFrame,
    by_learner: pd.DataFrame,
    lines: pd.DataFrame,
    far: dict[str, float],
) -> list[str]:
    counted = found[found["counted"]]
    counts, total = tally(counted), len(counted)
    few = counted.loc[counted["difference"].notna(), "expected"].min()
    if few < TRIALS:
        return [
            f"With {few:.0f} of the paper's {TRIALS} trials nothing can be held against it; "
            f"{counts['exact']} of {total} printed numbers print alike so far."
        ]
    each = [f"{runs.name(x['method'])} {x['exact']} of {x['printed']}" for x in rows(by_learner)]
    score = by_column[(by_column["margin"] == COLUMN_MARGIN) & by_column["counted"].astype(bool)]
    apart = rows(score, equivalent="no")
    told = [f"{line['learner']} ({line['title']}) {interval(line, 4)}" for line in apart]
    head = rows(score, table="test-f1-tuned", method="gradtree")
    default = rows(score, table="test-f1-default", method="gradtree")
    fits = bool(head) and head[0]["equivalent"] == "yes"
    summaries = tally(lines[lines["counted"]])
    needed = counted.loc[counted["outcome"] == "undecided", "trials_needed"]
    unrun = f"{counts['missing']} have no number here, " if counts["missing"] else ""
    (note,) = table("reproduces-columns", by_column).notes
    return [
        f"{'On average over datasets, mostly' if fits else 'Not shown'}: {len(score) - len(apart)} "
        f"of the {len(score)} printed columns of F1 agree with ours within ±{COLUMN_MARGIN:g}."
        + (f" GradTree's test F1 differs by {interval(head[0], 4)} (tuned)" if head else "")
        + (f" and {interval(default[0], 4)} (default)" if head and default else "")
        + ("." if head else ""),
        f"Not equivalent: {listed(told)}."
        + (f" {note}" if any(line["table"] == "test-f1-default" for line in apart) else "")
        if apart
        else "No column is apart.",
        f"Digit by digit, {counts['exact']} of the {total} numbers that the paper prints (each "
        f"counted once) print alike: {listed(each)}.",
        f"{counts['equivalent']} more cells are equivalent, {unrun}"
        f"{counts['better'] + counts['worse']} differ, and {counts['undecided']} are {UNDECIDED}: "
        f"if the means are equal, more trials of ours could show it for "
        f"{int(needed.map(math.isfinite).sum())} of these; for "
        "the others the paper's own ten are too few.",
        f"Of {int(lines['counted'].sum())} printed summary values {summaries['exact']} print "
        f"alike, {summaries['equivalent']} are equivalent, "
        f"{summaries['better'] + summaries['worse']} differ and {summaries['undecided']} are "
        f"{UNDECIDED}.",
        "How far two numbers for the same cell of tuned GradTree are apart: "
        f"{listed([f'{words} {value:.4f}' for words, value in far.items()])}. "
        + (
            "So rounding could move ours from print; whether it did is not known."
            if draws.within_refits(far)
            else "Why ours differ from print by more than a rounding moves them is not known."
        ),
    ]


def _draw(runs: Runs, by_column: pd.DataFrame) -> Any:
    from experiments.analysis.drawing import forest

    shown = by_column[by_column["head"].astype(bool)]
    lines = shown.assign(group="", label=shown["method"].map(runs.name), note="")
    lines["filled"] = shown["equivalent"] == "yes"
    return forest(rows(lines), "Test F1, ours minus printed")


QUESTIONS = {10: answer}
