"""What changes without the label leak?

The paper encodes a category as the mean label of the other training rows in it, so a training
row's code depends on its own label; codes of validation and test rows do not. Protocol ``clean``
encodes every row without its own label, fits all preprocessing on training rows, rebalances only
those, adds no noise before the quantile transform and stratifies the splits.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from experiments.analysis import pairwise
from experiments.analysis.answer import Answer, figure, table
from experiments.analysis.grids import grid
from experiments.analysis.pairwise import PROTOCOLS, contrast, in_scope, rows
from experiments.analysis.printed import TASKS, Printed
from experiments.analysis.questions import quirks
from experiments.analysis.runs import Runs
from experiments.analysis.stats import mean_of

TABLES = {"test-f1-tuned": "published", "test-f1-default": "default"}
SETTINGS = {
    "tuned": "published settings",
    "default": "default settings",
    "searched": "our own search",
}
COLUMNS = {"yes": "with categorical columns", "no": "without"}


def leaks(runs: Runs, slugs: Any) -> Any:
    """Whether the leak can act: ``yes`` for datasets with categorical columns, else ``no``."""
    return slugs.map(lambda slug: "yes" if runs.datasets[slug]["categorical"] else "no")


def changes(runs: Runs) -> pd.DataFrame:
    """Every cell of the tables of test F1 under both protocols.

    A cell with some of its trials only is left out: the trials differ in their splits.
    """
    parts = []
    for name in TABLES:
        frames = {protocol: grid(runs, name, protocol).frame for protocol in PROTOCOLS}
        both = frames["paper"][["task", "dataset", "method"]]
        for protocol, own in frames.items():
            whole = (own["n"] == own["expected"]) & (own["missing"] == "")
            both = both.assign(**{protocol: own["mean"].where(whole).to_numpy()})
        parts.append(both.assign(table=name))
    found = pd.concat(parts, ignore_index=True)
    found = found.assign(
        categorical=leaks(runs, found["dataset"]), difference=found["clean"] - found["paper"]
    )
    first = ["table", "task", "dataset", "method", "categorical"]
    return found[[*first, *PROTOCOLS, "difference"]]


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Mean change by learner, setting and whether the leak can act."""
    places = ["table", "categorical", "method"]
    known = found.dropna(subset="difference").groupby(places, sort=False)["difference"]
    means = known.agg(n="size", change=lambda own: mean_of(own)).reset_index()
    order = [found[name].drop_duplicates() for name in places]
    every = pd.MultiIndex.from_product(order, names=places).to_frame(index=False)
    means = every.merge(means, on=places)
    return means.assign(
        Setting=means["table"].map(TABLES), Datasets=means["categorical"].map(COLUMNS)
    )


def gaps(runs: Runs, printed: Printed) -> pd.DataFrame:
    """GradTree minus CART under both protocols, and how much the gap changes."""
    lines = []
    for setting, words in SETTINGS.items():
        sides = {}
        for protocol in PROTOCOLS:
            pair = (protocol, setting, "gradtree"), (protocol, setting, "cart")
            sides[protocol] = pairwise.differences(runs, *pair)
        both = pd.DataFrame(sides).dropna()
        both = both.assign(difference=both["clean"] - both["paper"])
        for scope in TASKS:
            whole = both.loc[in_scope(both["difference"], printed, scope).index]
            kinds = leaks(runs, whole.index)
            parts = {"all": whole} | {COLUMNS[kind]: whole[kinds == kind] for kind in COLUMNS}
            for where, own in parts.items():
                found = contrast(own["difference"])
                if found is not None:
                    line = {"Setting": words, "scope": scope, "Datasets": where}
                    lines.append(line | {name: mean_of(own[name]) for name in PROTOCOLS} | found)
    return pd.DataFrame(lines)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found = changes(runs)
    if found["difference"].isna().all():
        return None
    means, moved = summary(found), gaps(runs, printed)
    frames = {"leak": means, "leak-gradtree-cart": moved, "clean": found}
    tables = [table(name, frame, runs.name) for name, frame in frames.items()]
    drawn = figure("clean-against-paper", lambda: _draw(runs, found))
    title, shown = "What changes without the label leak?", ["leak", "leak-gradtree-cart"]
    return Answer("leak", title, _sentences(runs, means, moved), tables, [drawn], shown)


def _sentences(runs: Runs, means: pd.DataFrame, moved: pd.DataFrame) -> list[str]:
    own = means[(means["Setting"] == "published") & (means["n"] > 4)]
    where, elsewhere = (
        ", ".join(f"{runs.name(r['method'])} {r['change']:+.3f}" for r in rows(own, Datasets=words))
        for words in COLUMNS.values()
    )
    gains = own.loc[own["Datasets"] == COLUMNS["yes"], "change"]
    word = "rise" if len(gains) and (gains > 0).all() else "change"
    sentences = [
        f"Test scores {word} where categories can leak: {where or 'not run'} (mean "
        f"change of F1, published settings); elsewhere {elsewhere or 'not run'}.",
        "The leak is in the codes of training rows alone, so it lowers test scores: a tree learns "
        "codes that mean something else in the test rows.",
    ]
    for words in dict.fromkeys(moved["Setting"]) if len(moved) else ():
        lines = {r["Datasets"]: r for r in rows(moved, Setting=words, scope="binary")}
        if "all" in lines:
            whole = lines.pop("all")
            sentences.append(
                f"GradTree minus CART on binary data ({words}) goes from {whole['paper']:+.3f} to "
                f"{whole['clean']:+.3f}; the change is "
                f"{pairwise.told(lines.values(), '{Datasets}')}."
            )
    sentences.append(
        "Protocol clean also stratifies, drops the noise before the quantile transform and codes "
        "each class in a column of its own, so not every change is the leak's work."
    )
    sides = ("paper-no-noise", quirks.EXPERIMENT, "gradtree"), (*quirks.BASE, "gradtree")
    change = pairwise.differences(runs, *sides)
    noise = change.groupby(leaks(runs, change.index)).agg(mean_of)
    if len(noise) == len(COLUMNS):
        hides = noise["yes"] < 0 and abs(noise["yes"]) > 5 * abs(noise["no"])
        sentences.append(
            f"Dropping that noise alone moves GradTree by {noise['yes']:+.3f} with categorical "
            f"columns and {noise['no']:+.3f} without"
            + (": the noise hides the leak." if hides else ".")
        )
    return sentences


def _draw(runs: Runs, found: pd.DataFrame) -> Any:
    from experiments.analysis import drawing

    with drawing.look():
        figure = drawing.canvas(5.6, 2.0)
        axes = figure.add_subplot()
        own = found[found["table"] == "test-f1-tuned"].dropna(subset="difference")
        methods = [str(method) for method in dict.fromkeys(own["method"])]
        for at, method in enumerate(methods):
            look = drawing.mark_of(method)
            for leaking, shift in (("yes", -0.17), ("no", 0.17)):
                part = own[(own["method"] == method) & (own["categorical"] == leaking)]
                face = look.colour if leaking == "yes" else "#ffffff"
                mark: Any = {"color": look.colour, "markerfacecolor": face, "markersize": 4}
                place = [at + shift] * len(part)
                axes.plot(part["difference"], place, look.marker, alpha=0.7, **mark)
                if leaking == "yes" and len(part):
                    middle = part["difference"].mean()
                    axes.plot([middle] * 2, [at - 0.35, at + 0.02], color=drawing.INK)
        axes.axvline(0, color=drawing.INK, linewidth=0.7)
        axes.set_yticks(range(len(methods)), [runs.name(method) for method in methods])
        axes.set_ylim(len(methods) - 0.5, -0.5)
        axes.set_xlabel("Change of test F1 without the leak (right: better)")
        drawing.quiet(axes, left=False)
        return figure


QUESTIONS = {40: answer}
