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
from experiments.analysis.answer import Answer, Figure, Format, Table
from experiments.analysis.grids import grid
from experiments.analysis.pairwise import SCOPES, contrast, interval, listed
from experiments.analysis.printed import Printed
from experiments.analysis.questions import quirks
from experiments.analysis.ranks import mean_of
from experiments.analysis.runs import Runs

ORDER = 40
TABLES = {"test-f1-tuned": "published", "test-f1-default": "default"}
SETTINGS = {"tuned": "published", "default": "default", "searched": "our own search"}
COLUMNS = {True: "with categorical columns", False: "without"}


def changes(runs: Runs) -> pd.DataFrame:
    """Every cell of the tables of test F1 under both protocols.

    A cell with some of its trials only is left out: the trials differ in their splits.
    """
    parts = []
    for name in TABLES:
        sides = []
        for protocol in ("paper", "clean"):
            frame = grid(runs, name, protocol).frame
            frame = frame.assign(mean=frame["mean"].where(frame["n"] == frame["expected"]))
            sides.append(frame[["task", "dataset", "method", "mean"]])
        both = sides[0].rename(columns={"mean": "paper"})
        both["clean"] = sides[1]["mean"].to_numpy()
        both.insert(0, "table", name)
        parts.append(both)
    found = pd.concat(parts, ignore_index=True)
    leaking = found["dataset"].map(lambda slug: bool(runs.datasets[slug]["categorical"]))
    found.insert(4, "categorical", leaking.map({True: "yes", False: "no"}))
    return found.assign(difference=found["clean"] - found["paper"])


def summary(runs: Runs, found: pd.DataFrame) -> pd.DataFrame:
    """Mean change by learner, setting and whether the leak can act."""
    rows = []
    for (name, leaking), own in found.groupby(["table", "categorical"], sort=False):
        for method, part in own.groupby("method", sort=False):
            known = part["difference"].dropna()
            if len(known):
                row = {"Learner": runs.name(str(method)), "Setting": TABLES[str(name)]}
                row |= {"Datasets": COLUMNS[leaking == "yes"], "n": len(known)}
                rows.append({**row, "method": method, "change": mean_of(known)})
    return pd.DataFrame(rows)


def gaps(runs: Runs, printed: Printed) -> pd.DataFrame:
    """GradTree minus CART under both protocols, and how much the gap changes."""
    rows = []
    for setting, words in SETTINGS.items():
        sides = {
            protocol: pairwise.differences(
                runs, (protocol, setting, "gradtree"), (protocol, setting, "cart")
            )
            for protocol in ("paper", "clean")
        }
        both = pd.DataFrame(sides).dropna()
        for scope in ("binary", "multi"):
            for leaking in (None, True, False):
                slugs = [
                    slug
                    for slug in pairwise.slugs_of(printed, scope)
                    if slug in both.index
                    and leaking in (None, bool(runs.datasets[slug]["categorical"]))
                ]
                own = both.loc[slugs]
                found = contrast(own["clean"] - own["paper"])
                if found is not None:
                    where = "all" if leaking is None else COLUMNS[leaking]
                    row = {"Setting": words, "Task": SCOPES[scope], "Datasets": where}
                    row |= {name: mean_of(own[name]) for name in ("paper", "clean")}
                    rows.append({**row, "n": found["n"], "change": found["difference"], **found})
    return pd.DataFrame(rows)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found = changes(runs)
    if found["difference"].notna().sum() == 0:
        return None
    means, moved = summary(runs, found), gaps(runs, printed)
    limits = Format(kind="change", group="95 % interval")
    tables = [
        Table(
            "leak",
            "Change of test F1 without the label leak",
            "Mean test F1 under protocol clean minus that under protocol paper, by whether a "
            "dataset has categorical columns, the only ones that can leak",
            means.drop(columns="method"),
            formats={"n": Format(kind="count"), "change": Format(kind="change")},
        ),
        Table(
            "leak-gradtree-cart",
            "GradTree minus CART with and without the leak",
            "Mean difference of test F1 under both protocols, and its change with a 95 % interval "
            "(paired bootstrap over datasets)",
            moved[
                ["Setting", "Task", "Datasets", "n", "paper", "clean", "change", "low", "high"]
            ].rename(columns={"low": "95 % interval: low", "high": "95 % interval: high"}),
            formats={
                "n": Format(kind="count"),
                **dict.fromkeys(("paper", "clean", "change"), Format(kind="change")),
                **{f"95 % interval: {end}": limits for end in ("low", "high")},
            },
        ),
        Table(
            "clean",
            "Test F1 under both protocols",
            "Mean test F1 of every learner on every dataset under protocols paper and clean, and "
            "their difference",
            found,
            formats={"difference": Format(kind="change")},
        ),
    ]
    return Answer(
        "leak",
        "What changes without the label leak?",
        tuple(_sentences(runs, printed, means, moved)),
        tuple(tables),
        (Figure("clean-against-paper", CAPTION, lambda: _draw(runs, found)),),
        shown=("leak", "leak-gradtree-cart"),
    )


def _sentences(runs: Runs, printed: Printed, means: pd.DataFrame, moved: pd.DataFrame) -> list[str]:
    tuned = means[means["Setting"] == "published"]
    lines = {leaking: tuned[tuned["Datasets"] == words] for leaking, words in COLUMNS.items()}
    told = {
        leaking: ", ".join(
            f"{row.Learner} {row.change:+.3f}" for row in own.itertuples() if row.n > 4
        )
        for leaking, own in lines.items()
    }
    gains = lines[True][lines[True]["n"] > 4]
    word = "rise" if len(gains) and (gains["change"] > 0).all() else "change"
    sentences = [
        f"Test scores {word} where categories can leak: {told[True] or 'not run'} "
        f"({COLUMNS[True]}, published settings); elsewhere {told[False] or 'not run'}.",
        "The leak is in the training rows alone, so it lowers test scores: a tree learns codes "
        "that mean something else in the test rows.",
    ]
    for words in dict.fromkeys(moved["Setting"]) if len(moved) else ():
        own = moved[(moved["Setting"] == words) & (moved["Task"] == "binary")]
        parts = {row["Datasets"]: row for row in own.to_dict("records")}
        split = [f"{interval(row)} {name}" for name, row in parts.items() if name != "all"]
        if "all" in parts:
            whole = parts["all"]
            sentences.append(
                f"With {words} settings GradTree minus CART on binary data goes from "
                f"{whole['paper']:+.3f} to {whole['clean']:+.3f}; the change is {listed(split)}."
                if words != SETTINGS["searched"]
                else f"With {words} it goes from {whole['paper']:+.3f} to {whole['clean']:+.3f}; "
                f"the change is {listed(split)}."
            )
    noise = _noise(runs, printed)
    if noise:
        sentences.append(
            "Protocol clean also stratifies, drops the noise before the quantile transform and "
            "codes each class in a column of its own, so not every change is the leak's work. "
            f"Dropping the noise alone moves GradTree by {noise[True]:+.3f} on datasets with "
            f"categorical columns and {noise[False]:+.3f} on the others: the noise hides the leak."
            if abs(noise[True]) > 5 * abs(noise[False])
            else f"Dropping the noise alone moves GradTree by {noise[True]:+.3f} on datasets with "
            f"categorical columns and {noise[False]:+.3f} on the others."
        )
    return sentences


def _noise(runs: Runs, printed: Printed) -> dict[bool, float]:
    """Change of GradTree without the noise, where there are categories and where not."""
    variant = next(each for each in quirks.VARIANTS if each.protocol == "paper-no-noise")
    change = pairwise.differences(
        runs, (variant.protocol, quirks.EXPERIMENT, "gradtree"), (*quirks.BASE, "gradtree")
    )
    found = {}
    for leaking in COLUMNS:
        own = [v for s, v in change.items() if bool(runs.datasets[s]["categorical"]) == leaking]
        if own:
            found[leaking] = mean_of(own)
    return found if len(found) == len(COLUMNS) else {}


CAPTION = (
    "Change of mean test F1 from protocol paper to protocol clean, published settings: a mark per "
    "dataset (filled where it has categorical columns), a line at the mean of those."
)


def _draw(runs: Runs, found: pd.DataFrame) -> Any:
    from experiments.output import figures

    with figures.look():
        figure = figures.canvas(5.6, 2.0)
        axes = figure.add_subplot()
        own = found[found["table"] == "test-f1-tuned"].dropna(subset="difference")
        methods = [str(method) for method in dict.fromkeys(own["method"])]
        for at, method in enumerate(methods):
            look = figures.mark_of(method)
            for leaking, shift in (("yes", -0.17), ("no", 0.17)):
                part = own[(own["method"] == method) & (own["categorical"] == leaking)]
                face = look.colour if leaking == "yes" else "#ffffff"
                mark = {"color": look.colour, "markerfacecolor": face, "markersize": 4}
                place = [at + shift] * len(part)
                axes.plot(part["difference"], place, look.marker, alpha=0.7, **mark)
                if leaking == "yes" and len(part):
                    middle = part["difference"].mean()
                    axes.plot([middle] * 2, [at - 0.35, at + 0.02], color=figures.INK)
        axes.axvline(0, color=figures.INK, linewidth=0.7)
        axes.set_yticks(range(len(methods)), [runs.name(method) for method in methods])
        axes.set_ylim(len(methods) - 0.5, -0.5)
        axes.set_xlabel("Change of test F1 without the leak (right: better)")
        figures.quiet(axes, left=False)
        return figure
