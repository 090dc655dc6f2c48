"""Does it reproduce? The paper's printed numbers beside ours, by learner, column and line."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pandas as pd

from experiments.analysis import stats
from experiments.analysis.answer import Answer, Figure, Format, Table
from experiments.analysis.declared import declared
from experiments.analysis.grids import mean_of
from experiments.analysis.pairwise import interval, listed
from experiments.analysis.printed import TASK_NAMES, TRIALS, Printed
from experiments.analysis.questions import stability
from experiments.analysis.runs import Runs
from experiments.analysis.verdicts import (
    COLUMN_MARGIN,
    CSV_COLUMNS,
    RELATIVE_MARGIN,
    UNDECIDED,
    summary_verdicts,
    tally,
    verdicts,
)

ORDER = 10
HEADLINE = {"ablation-tuned": ("gradtree-gumbel", "gradtree-annealed")}
"""The column of test F1 with published settings is in ``test-f1-tuned`` but for these."""

COLUMN_NAMES = {
    "table": "Table",
    "method": "Learner",
    "n": "datasets",
    "alike": "print alike",
    "difference": "ours minus printed: mean",
    "low": "ours minus printed: low",
    "high": "ours minus printed: high",
    "margin": "margin",
    "p": "p (equivalence)",
    "equivalent": "equivalent",
    "distance": "mean distance",
    "counted": "counted",
}
OTHER_RUN = (
    "(The multi-class half of the printed GradTree column with default hyperparameters belongs to "
    "another run than its printed mean; the published run stands in the ablation table.)"
)


def columns(found: pd.DataFrame) -> pd.DataFrame:
    """Every printed column beside ours: mean difference over datasets, and is it equivalent?

    ``margin`` is 0.01 of F1, or a tenth of the mean printed size; ``p`` that of two one-sided
    t-tests over datasets that the mean difference is outside of it. Not ``counted`` are columns
    that stand in an earlier table already.
    """
    lines = []
    judged = found[found["paper_mean"].notna() & found["difference"].notna()]
    for (name, method), part in judged.groupby(["table", "method"], sort=False):
        table, values = declared(str(name)), part["difference"]
        if table.machine_dependent or len(part) < stats.FEWEST_DATASETS:
            continue
        score = table.metric != "tree_size"
        margin = COLUMN_MARGIN if score else RELATIVE_MARGIN * mean_of(part["paper_mean"].tolist())
        estimate, low, high = stats.t_interval(values)
        p = stats.equivalence(values, margin)
        alike = int((part["outcome"] == "exact").sum())
        equivalent = "yes" if p < stats.LEVEL else "no"
        distance = mean_of(values.abs().tolist())
        numbers = (estimate, low, high, margin, p, equivalent, distance, part["counted"].any())
        lines.append((name, method, len(part), alike, *numbers))
    return pd.DataFrame(lines, columns=list(COLUMN_NAMES))


def learners(found: pd.DataFrame, by_column: pd.DataFrame) -> pd.DataFrame:
    """Per learner: how many numbers are printed, each counted once, and how ours compare."""
    lines = []
    for method, part in found[found["counted"]].groupby("method", sort=False):
        own = by_column[(by_column["method"] == method) & by_column["counted"]]
        table = next((t for t, those in HEADLINE.items() if method in those), "test-f1-tuned")
        head = own[own["table"] == table]
        counts = tally(part)
        lines.append(
            {"method": method, "printed": len(part), "alike": counts["exact"]}
            | {"equivalent": counts["equivalent"], "undecided": counts["undecided"]}
            | {"differ": counts["better"] + counts["worse"], "missing": counts["missing"]}
            | {"columns": f"{(own['equivalent'] == 'yes').sum()} of {len(own)}"}
            | (
                head.iloc[0][["difference", "low", "high", "distance"]].to_dict()
                if len(head)
                else {}
            )
        )
    return pd.DataFrame(lines)


def other_splits(found: pd.DataFrame) -> dict[str, float]:
    """How far two means over ten trials of GradTree would be apart if both had splits of their own.

    From the spread of trials: the mean distance of two normal means is 2 s / sqrt(pi n).
    """
    own = found[(found["table"] == "test-f1-tuned") & (found["method"] == stability.METHOD)]
    own = own[own["ours_n"] > 1]
    far = 2 * own["ours_std"] / (math.pi * (own["ours_n"] - 1)) ** 0.5
    return {"ten other splits": mean_of(far.tolist())} if len(far) else {}


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found = verdicts(runs, printed)
    counted = found[found["counted"]]
    if counted["difference"].isna().all():
        return None
    by_column = columns(found)
    by_learner = learners(found, by_column)
    lines = summary_verdicts(runs, printed)
    far = {**stability.distances(runs, printed), **other_splits(found)}
    tables = (
        _learner_table(runs, by_learner),
        _column_table(runs, by_column),
        _summary_table(runs, lines),
        Table(
            "reproduces-yardsticks",
            "How far apart two numbers for the same cell are",
            "Tuned GradTree, test F1: mean distance over datasets between ours and the printed "
            "number, and between two numbers that differ in a rounding, a seed or the splits",
            pd.DataFrame({"Ours and": list(far), "mean distance": list(far.values())}),
            "",
            {"mean distance": Format(4)},
        ),
        Table(
            "verdicts",
            "Verdicts",
            f"Every printed cell beside ours; undecided: {UNDECIDED}",
            found[list(CSV_COLUMNS)],
        ),
    )
    figure = Figure(
        "reproduces",
        "Ours minus printed, mean over datasets with 95 % interval: test F1 with published "
        "hyperparameters; filled where equivalent within ±0.01",
        partial(_draw, runs, by_column),
    )
    return Answer(
        "reproduces",
        "Does it reproduce?",
        tuple(_sentences(runs, found, by_column, by_learner, lines, far)),
        tables,
        (figure,),
        ("reproduces", "reproduces-yardsticks"),
        {"counts": tally(counted), "summary_counts": tally(lines[lines["counted"]])},
    )


def _learner_table(runs: Runs, lines: pd.DataFrame) -> Table:
    names = {
        "method": "Learner",
        "printed": "numbers printed",
        "alike": "print alike",
        "equivalent": "equivalent",
        "undecided": "too noisy to tell",
        "differ": "differ",
        "columns": "columns equivalent",
        "difference": "Test F1, ours minus printed: mean",
        "low": "Test F1, ours minus printed: low",
        "high": "Test F1, ours minus printed: high",
        "distance": "mean distance",
    }
    changes = [name for key, name in names.items() if key in ("difference", "low", "high")]
    counts = [names[key] for key in ("printed", "alike", "equivalent", "undecided", "differ")]
    return Table(
        "reproduces",
        "Printed numbers and ours",
        "Every number of the paper's tables of F1 and size, counted once: how many print alike, "
        "are equivalent, are too noisy to tell, differ; columns "
        "equivalent over datasets; and test F1 with published hyperparameters, ours minus printed, "
        "with 95 % interval over datasets and mean distance",
        lines.assign(method=lines["method"].map(runs.name))
        .reindex(columns=list(names))
        .rename(columns=names),
        "",
        dict.fromkeys(changes, Format(4, "change"))
        | {"mean distance": Format(4)}
        | dict.fromkeys(counts, Format(kind="count")),
    )


def _column_table(runs: Runs, lines: pd.DataFrame) -> Table:
    frame = lines.assign(
        table=lines["table"].map(lambda name: declared(name).title),
        method=[
            declared(table).names.get(method, runs.name(method))
            for table, method in zip(lines["table"], lines["method"], strict=True)
        ],
    )
    changes = [COLUMN_NAMES[key] for key in ("difference", "low", "high")]
    return Table(
        "reproduces-columns",
        "Printed columns and ours",
        "Ours minus printed, mean over datasets with 95 % interval (Student); equivalent: within "
        "the margin by two one-sided tests",
        frame.drop(columns="counted").rename(columns=COLUMN_NAMES),
        "",
        dict.fromkeys(changes, Format(4, "change"))
        | {"p (equivalence)": Format(kind="p"), "mean distance": Format(4)}
        | dict.fromkeys(("datasets", "print alike"), Format(kind="count")),
        (OTHER_RUN,),
    )


def _summary_table(runs: Runs, lines: pd.DataFrame) -> Table:
    titles = {name: declared(name).title for name in lines["table"].unique() if name != "summary"}
    frame = pd.DataFrame(
        {
            "Table": lines["table"].map({**titles, "summary": "Summary"}),
            "Task": lines["task"].map(TASK_NAMES),
            "Line": lines["statistic"],
            "Learner": lines["method"].map(runs.name),
            "printed": lines["paper_value"],
            "ours": lines["ours_value"],
            "ours minus printed: difference": lines["difference"],
            "ours minus printed: low": lines["low"],
            "ours minus printed: high": lines["high"],
            "verdict": lines["outcome"],
            "note": lines["note"].where(lines["counted"], "printed twice; counted once"),
        }
    )
    changes = [name for name in frame if name.startswith("ours minus")]
    return Table(
        "reproduces-summaries",
        "Printed summary lines and ours",
        "Mean, MRR and MRD below the paper's tables, and the train-test differences of its Table "
        "3. exact: prints alike; equivalent: within 0.01 of a mean F1, a tenth of a size, 0.05 of "
        "an MRR or MRD; better or worse: the 95 % interval over datasets leaves out zero",
        frame,
        "",
        dict.fromkeys(changes, Format(kind="change")),
    )


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
            f"With {few:.0f} trials where the paper has {TRIALS} nothing can be held against it; "
            f"{counts['exact']} of {total} printed numbers print alike so far."
        ]
    alike = by_learner.set_index("method")[["alike", "printed"]]
    each = [f"{runs.name(m)} {row['alike']} of {row['printed']}" for m, row in alike.iterrows()]
    score = by_column[(by_column["margin"] == COLUMN_MARGIN) & by_column["counted"]]
    apart = score[score["equivalent"] == "no"]

    def told(line: Any) -> str:
        name = declared(line["table"]).names.get(line["method"], runs.name(line["method"]))
        return f"{name} ({declared(line['table']).title}) {interval(line, 4)}"

    head = score[(score["table"] == "test-f1-tuned") & (score["method"] == "gradtree")]
    fits = len(head) > 0 and head.iloc[0]["equivalent"] == "yes"
    summaries = tally(lines[lines["counted"]])
    open_cells = counted[counted["outcome"] == "undecided"]
    unrun = f"{counts['missing']} have no number here, " if counts["missing"] else ""
    possible = int(open_cells["trials_needed"].map(math.isfinite).sum())
    yardsticks = [f"{words} {value:.4f}" for words, value in far.items()]
    return [
        f"{'In the mean, yes' if fits else 'Not shown'}: {len(score) - len(apart)} of the "
        f"{len(score)} printed columns of F1 are equivalent to ours within ±{COLUMN_MARGIN:g}"
        + (f"; GradTree's own, tuned: {interval(head.iloc[0], 4)}." if len(head) else "."),
        f"Not shown to be: {listed([told(line) for _, line in apart.iterrows()])}."
        + (f" {OTHER_RUN}" if "test-f1-default" in set(apart["table"]) else "")
        if len(apart)
        else "No column is apart.",
        f"Digit by digit, {counts['exact']} of the {total} numbers that the paper prints (each "
        f"counted once) print alike: {listed(each)}.",
        f"{counts['equivalent']} more cells are equivalent, {unrun}"
        f"{counts['better'] + counts['worse']} differ, and of {counts['undecided']} {UNDECIDED}: "
        f"if the means are equal, more trials of ours could show it for {possible} of these; for "
        "the others the paper's own ten are too few.",
        f"Of {int(lines['counted'].sum())} printed summary values {summaries['exact']} print "
        f"alike, {summaries['equivalent']} are equivalent, "
        f"{summaries['better'] + summaries['worse']} differ and {summaries['undecided']} cannot be "
        "told.",
        "How far two numbers for the same cell of tuned GradTree are apart: "
        f"{listed(yardsticks)}. Why ours differ from print by more than a rounding moves them is "
        "not known.",
    ]


def _draw(runs: Runs, by_column: pd.DataFrame) -> Any:
    from experiments.analysis.drawing import forest

    lines = []
    for line in by_column.to_dict("records"):
        at = next((t for t, those in HEADLINE.items() if line["method"] in those), "test-f1-tuned")
        if line["table"] == at:
            filled = line["equivalent"] == "yes"
            label = f"{runs.name(line['method'])} ({line['n']})"
            lines.append({**line, "group": "", "label": label, "filled": filled})
    return forest(lines, "Test F1, ours minus printed")
