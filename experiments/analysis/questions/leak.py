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
from experiments.analysis.answer import Answer, Figure
from experiments.analysis.grids import grid
from experiments.analysis.pairwise import HIGH, LOW, SCOPES, Line, contrast, rows, table
from experiments.analysis.printed import Printed
from experiments.analysis.questions import quirks
from experiments.analysis.ranks import mean_of
from experiments.analysis.runs import Runs

ORDER = 40
TABLES = {"test-f1-tuned": "published", "test-f1-default": "default"}
SETTINGS = {
    "tuned": "published settings",
    "default": "default settings",
    "searched": "our own search",
}
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
            whole = (frame["n"] == frame["expected"]) & (frame["missing"] == "")
            frame = frame.assign(mean=frame["mean"].where(whole))
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
    lines = []
    for (name, leaking), own in found.groupby(["table", "categorical"], sort=False):
        for method, part in own.groupby("method", sort=False):
            known = part["difference"].dropna()
            if len(known):
                row: Line = {"Learner": runs.name(str(method)), "Setting": TABLES[str(name)]}
                row |= {"Datasets": COLUMNS[leaking == "yes"], "n": len(known)}
                lines.append({**row, "method": method, "change": mean_of(known)})
    return pd.DataFrame(lines)


def gaps(runs: Runs, printed: Printed) -> pd.DataFrame:
    """GradTree minus CART under both protocols, and how much the gap changes."""
    lines = []
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
                    row: Line = {"Setting": words, "Task": SCOPES[scope], "Datasets": where}
                    row |= {name: mean_of(own[name]) for name in ("paper", "clean")}
                    lines.append({**row, **found})
    return pd.DataFrame(lines)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found = changes(runs)
    if found["difference"].notna().sum() == 0:
        return None
    means, moved = summary(runs, found), gaps(runs, printed)
    names = {name: name for name in ("Setting", "Task", "Datasets", "n", "paper", "clean")}
    names |= {"difference": "change", "low": LOW, "high": HIGH}
    return Answer(
        "leak",
        "What changes without the label leak?",
        tuple(_sentences(runs, means, moved)),
        (
            table("leak", means.drop(columns="method")),
            table("leak-gradtree-cart", moved, names),
            table("clean", found),
        ),
        (Figure("clean-against-paper", CAPTION, lambda: _draw(runs, found)),),
        shown=("leak", "leak-gradtree-cart"),
    )


def _sentences(runs: Runs, means: pd.DataFrame, moved: pd.DataFrame) -> list[str]:
    own = means[(means["Setting"] == "published") & (means["n"] > 4)]
    told = {
        words: ", ".join(f"{r['Learner']} {r['change']:+.3f}" for r in rows(own, Datasets=words))
        for words in COLUMNS.values()
    }
    gains = own.loc[own["Datasets"] == COLUMNS[True], "change"]
    word = "rise" if len(gains) and (gains > 0).all() else "change"
    sentences = [
        f"Test scores {word} where categories can leak: {told[COLUMNS[True]] or 'not run'} (mean "
        f"change of F1, published settings); elsewhere {told[COLUMNS[False]] or 'not run'}.",
        "The leak is in the codes of training rows alone, so it lowers test scores: a tree learns "
        "codes that mean something else in the test rows.",
    ]
    for words in dict.fromkeys(moved["Setting"]) if len(moved) else ():
        lines = {r["Datasets"]: r for r in rows(moved, Setting=words, Task="binary")}
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
    noise = _noise(runs)
    if noise:
        hides = noise[True] < 0 and abs(noise[True]) > 5 * abs(noise[False])
        sentences.append(
            f"Dropping that noise alone moves GradTree by {noise[True]:+.3f} with categorical "
            f"columns and {noise[False]:+.3f} without"
            + (": the noise hides the leak." if hides else ".")
        )
    return sentences


def _noise(runs: Runs) -> dict[bool, float]:
    """Change of GradTree without the noise, where there are categories and where not."""
    sides = ("paper-no-noise", quirks.EXPERIMENT, "gradtree"), (*quirks.BASE, "gradtree")
    change = pairwise.differences(runs, *sides)
    by_kind = {leaking: [] for leaking in COLUMNS}  # type: dict[bool, list[float]]
    for slug, value in change.items():
        by_kind[bool(runs.datasets[str(slug)]["categorical"])].append(value)
    return {kind: mean_of(own) for kind, own in by_kind.items()} if all(by_kind.values()) else {}


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
                mark: Any = {"color": look.colour, "markerfacecolor": face, "markersize": 4}
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
