"""Are GradTree's new defaults better than the published ones, and what is each choice worth?"""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from experiments.analysis import pairwise
from experiments.analysis.answer import Answer, Format, Table
from experiments.analysis.ranks import mean_of
from experiments.analysis.pairwise import PROTOCOLS, SCOPES, contrast, interval, listed, means
from experiments.analysis.printed import Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import LEVEL

ORDER = 50
EXPERIMENT, NEW = "new-defaults", "gradtree-new-defaults"


class Choice(NamedTuple):
    """What the new defaults do, and what the other learner does instead."""

    method: str
    choice: str
    instead: str


CHOICES = (
    Choice("gradtree", "all defaults", "GradTree as published"),
    Choice("cart", "all defaults", "CART"),
    Choice(f"{NEW}-learned-leaves", "leaves refitted on all rows", "learned leaves"),
    Choice(f"{NEW}-by-loss", "run and epoch chosen by F1", "chosen by loss"),
    Choice(f"{NEW}-four-long-runs", "sixteen short runs", "four long runs"),
    Choice(f"{NEW}-slow-leaves", "leaf rate 0.2", "the paper's leaf rate"),
    Choice(f"{NEW}-sigmoid", "softsign splits", "sigmoid splits"),
    Choice(f"{NEW}-glorot", "first thresholds at quantiles", "around zero"),
    Choice(f"{NEW}-free-leaves", "a price per leaf", "no price"),
)


def worths(runs: Runs, printed: Printed) -> pd.DataFrame:
    """The new defaults minus each other learner, by protocol and task; mean nodes of both."""
    lines = []
    for choice in CHOICES:
        for protocol in PROTOCOLS:
            sides = (protocol, EXPERIMENT, NEW), (protocol, EXPERIMENT, choice.method)
            gaps = pairwise.differences(runs, *sides)
            nodes = [means(runs, side, "tree_size") for side in sides]
            for scope in SCOPES:
                found = contrast(pairwise.in_scope(gaps, printed, scope))
                if found is not None:
                    shared = [s for s in pairwise.slugs_of(printed, scope) if s in gaps.index]
                    sizes = [mean_of(own[shared]) for own in nodes]
                    names = {"protocol": protocol, "scope": scope}
                    sized = {"nodes": sizes[0], "other_nodes": sizes[1]}
                    lines.append({**choice._asdict(), **names, **sized, **found})
    return pairwise.with_holm(lines)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found = worths(runs, printed)
    if found.empty:
        return None
    frame = found.assign(scope=found["scope"].map(SCOPES))[
        ["choice", "instead", "protocol", "scope", "n", "nodes", "other_nodes", *pairwise.named()]
    ].rename(
        columns={
            "choice": "Choice",
            "instead": "Instead",
            "protocol": "Protocol",
            "scope": "Task",
            "n": "datasets",
            "nodes": "nodes: new defaults",
            "other_nodes": "nodes: instead",
            **pairwise.named(),
        }
    )
    table = Table(
        "new-defaults",
        "GradTree's new defaults",
        "Mean test F1 of GradTree with its new defaults minus that of the other learner, over "
        "datasets, with a 95 % interval (paired bootstrap over datasets); mean nodes of both; "
        "wins, ties and losses; Wilcoxon's p, uncorrected and with Holm's correction over this "
        "table",
        frame,
        formats={
            "datasets": Format(kind="count"),
            "nodes: new defaults": Format(1, group="nodes"),
            "nodes: instead": Format(1, group="nodes"),
            **pairwise.formats(),
        },
    )
    compact = worth_table(found)
    return Answer(
        "new-defaults",
        "Are GradTree's new defaults better than the published ones?",
        tuple(_sentences(found)),
        (compact, table),
        shown=(compact.name,),
    )


def worth_table(found: pd.DataFrame) -> Table:
    """One row per choice; protocols and tasks side by side."""
    rows = []
    for place, own in found.groupby(["choice", "instead"], sort=False):
        row = dict(zip(("New default", "Instead"), place, strict=True))
        for line in own[own["scope"] != "all"].to_dict("records"):
            star = " *" if line["holm"] < LEVEL else ""
            row[f"{line['protocol']}, {SCOPES[line['scope']]}"] = interval(line) + star
        both = own[(own["scope"] == "all") & (own["protocol"] == PROTOCOLS[-1])]
        if len(both):
            line = both.iloc[0]
            row["nodes"] = f"{line['nodes']:.0f} / {line['other_nodes']:.0f}"
        rows.append(row)
    return Table(
        "new-defaults-compact",
        "What each new default is worth",
        "Mean test F1 with the new defaults minus that with the alternative [95 % interval]; "
        "* where Wilcoxon's test with Holm's correction finds a difference at 0.05; mean nodes of "
        "both under protocol clean",
        pd.DataFrame(rows),
    )


def _sentences(found: pd.DataFrame) -> list[str]:
    whole = found[found["scope"] == "all"]
    told = []
    for method in ("gradtree", "cart"):
        parts = [
            f"{interval(line)} under protocol {line['protocol']}"
            for line in whole[whole["method"] == method].to_dict("records")
        ]
        if parts:
            other = "the published ones" if method == "gradtree" else "CART"
            told.append(f"minus {other} {listed(parts)}")
    sentences = [f"Test F1 of GradTree with its new defaults: {'; '.join(told)}."]
    clean = whole[whole["protocol"] == PROTOCOLS[-1]].set_index("method")
    if "gradtree" in clean.index:
        line = clean.loc["gradtree"]
        sentences.append(
            f"Its trees have {line['nodes']:.0f} nodes on average instead of "
            f"{line['other_nodes']:.0f} (protocol clean, {line['n']} datasets)."
        )
    single = clean[clean.index.str.startswith(NEW)]
    sure = single[single["holm"] < LEVEL]
    helps, hurts = sure[sure["difference"] > 0], sure[sure["difference"] < 0]
    if len(single):
        sentences.append(
            f"Set back one at a time (protocol clean), {_named(helps)} significantly better than "
            f"what it replaces, {_named(hurts)} significantly worse, the other "
            f"{len(single) - len(sure)} not significantly different."
        )
    sentences.append(
        "The choices were made on other runs of the same datasets; validation rows choose runs "
        "and epochs, and no choice of a fit sees test rows."
    )
    return sentences


def _named(lines: pd.DataFrame) -> str:
    told = [f"{line['choice']} ({line['difference']:+.3f})" for line in lines.to_dict("records")]
    return f"{listed(told)} {'is' if len(told) == 1 else 'are'}" if told else "none is"
