"""What changes without the label leak, and without each questionable step of protocol ``paper``?

The paper encodes a category as the mean label of the other training rows in it, so a training
row's code depends on its own label; codes of validation and test rows do not. Protocol ``clean``
has no leak. ``quirks`` runs the default hyperparameters under protocols that differ from ``paper``
in one step; a dataset on which every fit came out the same has nothing that the step could act on.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any

import pandas as pd

from experiments.analysis import pairwise, stats
from experiments.analysis.answer import Answer, figure, tables
from experiments.analysis.grids import cells, grid
from experiments.analysis.pairwise import PROTOCOLS, contrast, differences, interval, listed, rows
from experiments.analysis.printed import TASKS, Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import LEVEL, contributions, mean_of, over_datasets

TABLES = {"test-f1-tuned": "published", "test-f1-default": "default"}
SETTINGS = {
    "tuned": "published settings",
    "default": "default settings",
    "searched": "our own search",
}
COLUMNS = {"yes": "with categorical columns", "no": "without"}
EXPERIMENT, BASE = "quirks", ("paper", "default")
METHODS = ("gradtree", "dndt", "genetictree", "dl85", "cart")


STEPS = {
    "paper-plain-means": ("leave-one-out means of categories", "plain means"),
    "paper-cross-fitted-means": ("leave-one-out means of categories", "cross-fitted means"),
    "paper-training-fill": ("gaps filled from all rows", "from training rows"),
    "paper-stratified": ("unstratified parts", "stratified parts"),
    "paper-no-noise": ("noise before the quantile transform", "no noise"),
    "paper-no-oversampling": ("oversampled rare classes", "left rare"),
    "paper-class-weights": ("oversampled rare classes", "weights, where a learner takes them"),
    "paper-training-bins": ("DL8.5 binarised with the test rows", "without them"),
}
"""Protocol -> which step of ``paper`` it replaces, and by what."""
ONLY = {"paper-training-bins": ("dl85",)}
"""The learners that a step concerns, if not all."""


def leaks(runs: Runs, slugs: Any) -> Any:
    """Whether the leak can act: ``yes`` for datasets with categorical columns, else ``no``."""
    return slugs.map(lambda slug: "yes" if runs.datasets[slug]["categorical"] else "no")


def changes(runs: Runs) -> pd.DataFrame:
    """Every cell of the tables of test F1 under both protocols that has all its trials."""
    parts = []
    for name in TABLES:
        place = grid(runs, name).frame[["task", "dataset", "method"]]
        both = place.assign(categorical=leaks(runs, place["dataset"]))
        both.insert(0, "table", name)
        for protocol in PROTOCOLS:
            own = grid(runs, name, protocol).frame
            whole = (own["n"] == own["expected"]) & (own["missing"] == "")
            both[protocol] = own["mean"].where(whole)
        parts.append(both.assign(difference=both["clean"] - both["paper"]))
    return pd.concat(parts, ignore_index=True)


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Mean change by setting, whether the leak can act, and learner."""
    places = ["table", "categorical", "method"]
    known = found.dropna(subset="difference").groupby(places)["difference"]
    means = known.agg(n="size", change=lambda own: mean_of(own))
    order = pd.MultiIndex.from_product([found[name].unique() for name in places], names=places)
    means = means.reindex(order[order.isin(means.index)]).reset_index()
    return means.assign(
        Setting=means["table"].map(TABLES), Datasets=means["categorical"].map(COLUMNS)
    )


def gaps(runs: Runs, printed: Printed) -> pd.DataFrame:
    """GradTree minus CART under both protocols, and how much the gap changes."""
    lines = []
    for setting, words in SETTINGS.items():
        pairs = {p: ((p, setting, "gradtree"), (p, setting, "cart")) for p in PROTOCOLS}
        both = pd.DataFrame({p: differences(runs, *pair) for p, pair in pairs.items()}).dropna()
        change = both["clean"] - both["paper"]
        for scope in TASKS:
            whole = pairwise.in_scope(change, printed, scope)
            kinds = leaks(runs, whole.index)
            parts = {"all": whole} | {COLUMNS[kind]: whole[kinds == kind] for kind in COLUMNS}
            for where, own in parts.items():
                line = {"Setting": words, "scope": scope, "Datasets": where}
                line |= both.loc[own.index].agg(mean_of).to_dict() if len(own) else {}
                lines.append((line, contrast(own)))
    return pairwise.contrasts(lines)


def leak(runs: Runs, printed: Printed) -> Answer | None:
    found = changes(runs)
    if found["difference"].isna().all():
        return None
    means, moved = summary(found), gaps(runs, printed)
    frames = {"leak": means, "leak-gradtree-cart": moved, "clean": found}
    made = tables(frames, runs.name)
    drawn = figure("clean-against-paper", lambda: _draw_changes(runs, found))
    title, shown = "What changes without the label leak?", ["leak", "leak-gradtree-cart"]
    return Answer("leak", title, [*_leaked(runs, means, moved)], made, [drawn], shown)


def _leaked(runs: Runs, means: pd.DataFrame, moved: pd.DataFrame) -> Iterator[str]:
    own = means[means["Setting"] == "published"]
    few = [runs.name(r["method"]) for r in rows(own[own["n"] < 5], Datasets=COLUMNS["yes"])]
    own, unsaid = own[own["n"] > 4], f"; too few such datasets for {listed(few)}" if few else ""
    where, elsewhere = (
        runs.told(own.loc[own["Datasets"] == words, ["method", "change"]].to_numpy(), "+.3f")
        for words in COLUMNS.values()
    )
    gains = own.loc[own["Datasets"] == COLUMNS["yes"], "change"]
    word = "rise" if len(gains) and (gains > 0).all() else "change"
    yield from (
        f"Test scores {word} where categories can leak: {where or 'not run'} (mean "
        f"change of F1, published settings{unsaid}); elsewhere {elsewhere or 'not run'}.",
        "The leak is in the codes of training rows alone, so it lowers test scores: a tree learns "
        "codes that mean something else in the test rows.",
    )
    for whole in rows(moved, Datasets="all", scope="binary"):
        kinds = rows(moved[moved["Datasets"] != "all"], Setting=whole["Setting"], scope="binary")
        yield (
            f"GradTree minus CART on binary data ({whole['Setting']}) goes from "
            f"{whole['paper']:+.3f} to {whole['clean']:+.3f}; the change is "
            f"{pairwise.told(kinds, '{Datasets}')}."
        )
    yield (
        "Protocol clean also stratifies, drops the noise before the quantile transform and codes "
        "each class in a column of its own, so not every change is the leak's work."
    )
    change = differences(runs, ("paper-no-noise", EXPERIMENT, "gradtree"), (*BASE, "gradtree"))
    noise = change.groupby(leaks(runs, change.index)).agg(mean_of)
    if len(noise) == len(COLUMNS):
        hides = noise["yes"] < 0 and abs(noise["yes"]) > 5 * abs(noise["no"])
        yield (
            f"Dropping that noise alone moves GradTree by {noise['yes']:+.3f} with categorical "
            f"columns and {noise['no']:+.3f} without"
            + (": the noise hides the leak." if hides else ".")
        )


def _draw_changes(runs: Runs, found: pd.DataFrame) -> Any:
    from experiments.analysis import drawing

    figure = drawing.canvas(5.6, 2.0)
    axes = figure.add_subplot()
    own = found[found["table"] == "test-f1-tuned"].dropna(subset="difference")
    methods = [str(method) for method in dict.fromkeys(own["method"])]
    for (at, method), leaking in product(enumerate(methods), COLUMNS):
        x = own.loc[(own["method"] == method) & (own["categorical"] == leaking), "difference"]
        y = [at + (-0.17 if leaking == "yes" else 0.17)] * len(x)
        drawing.points(axes, x, y, method, leaking == "yes", alpha=0.7, markersize=4)
        if leaking == "yes" and len(x):
            axes.plot([x.mean()] * 2, [at - 0.35, at + 0.02], color=drawing.INK)
    axes.axvline(0, color=drawing.INK, linewidth=0.7)
    axes.set_ylim(len(methods) - 0.5, -0.5)
    names = [runs.name(method) for method in methods]
    drawing.rows(axes, names, "Change of test F1 without the leak (right: better)")
    return figure


# Single steps


@lru_cache(maxsize=16)
def touched(runs: Runs, printed: Printed, protocol: str) -> list[str]:
    """Datasets on which at least one fit came out otherwise without the quirk."""
    place = ["dataset", "method", "trial", "seed"]
    sides = []
    for fits in (runs.of(*BASE), runs.of(protocol, EXPERIMENT)):
        kept = fits[(fits["status"] == "ok") & fits["method"].isin(ONLY.get(protocol, METHODS))]
        sides.append(kept.drop_duplicates(place, keep="last").set_index(place))
    shared = sides[0].index.intersection(sides[1].index)
    moved = ~pairwise.alike(*(side.loc[shared] for side in sides))
    slugs = set(shared[moved.to_numpy()].get_level_values("dataset"))
    return [slug for slug in printed.datasets.index if slug in slugs]


def effects(runs: Runs, printed: Printed) -> pd.DataFrame:
    """Test F1 of a learner with a quirk replaced minus that under ``paper``, a line for each."""
    lines = []
    for protocol, (quirk, instead) in STEPS.items():
        slugs = touched(runs, printed, protocol)
        for method in ONLY.get(protocol, METHODS):
            change = differences(runs, (protocol, EXPERIMENT, method), (*BASE, method))
            line = {"quirk": quirk, "instead": instead, "method": method}
            lines.append((line, contrast(change.reindex(slugs).dropna())))
    return pairwise.contrasts(lines)


def orders(runs: Runs, printed: Printed) -> pd.DataFrame:
    """MRRs and GradTree minus CART by quirk, over datasets that all learners settled both ways."""
    lines = []
    wanted = pd.MultiIndex.from_product([("mean", "n", "expected", "missing"), METHODS])
    for protocol, (quirk, instead) in STEPS.items():
        slugs = touched(runs, printed, protocol)
        before, after = (
            cells(runs, *place, "test_f1").unstack("method").reindex(slugs, columns=wanted)
            for place in (BASE, (protocol, EXPERIMENT))
        )
        for column in wanted:
            if column[1] not in ONLY.get(protocol, METHODS):
                after[column] = before[column]
        settled = before["mean"].notna() == after["mean"].notna()
        for side in (before, after):
            settled &= (side["missing"].fillna("") != "") | (side["n"] == side["expected"])
        kept = settled.index[settled.all(axis=1)]
        if len(kept) < stats.FEWEST_DATASETS:
            continue
        for done, side in (("as in the paper", before), (instead, after)):
            own = side.loc[kept, "mean"].astype(float)
            each = contributions(own, "MRR")
            line = {"Quirk": quirk, "Done": done, "datasets": len(kept)}
            line |= {method: over_datasets(each[method])["value"] for method in METHODS}
            gap = contrast((own["gradtree"] - own["cart"]).dropna()) or {}
            lines.append(line | {name: gap.get(name) for name in pairwise.LIMITS})
    return pd.DataFrame(lines)


def quirks(runs: Runs, printed: Printed) -> Answer | None:
    found, order = effects(runs, printed), orders(runs, printed)
    if found.empty:
        return None
    names = {method: f"MRR: {runs.name(method)}" for method in METHODS}
    names |= {name: f"GradTree minus CART: {name}" for name in pairwise.LIMITS}
    frames = {"quirks": found, "quirks-order": order.rename(columns=names)}
    title = "What does each questionable step of the paper's protocol do?"
    made, drawn = tables(frames, runs.name), figure("quirks", lambda: _draw_effects(runs, found))
    return Answer("quirks", title, [*_moved(runs, found, order)], made, [drawn], ["quirks"])


def _moved(runs: Runs, found: pd.DataFrame, order: pd.DataFrame) -> Iterator[str]:
    mine = sorted(rows(found, method="gradtree"), key=lambda line: line["difference"])
    if mine:
        most, loss = max(mine, key=lambda line: abs(line["difference"])), mine[0]
        yield (
            f"GradTree moves most when {most['quirk']} give way to {most['instead']}: "
            f"{interval(most)} over {most['n']} datasets."
        )
        if loss["difference"] < 0:
            lost = f"{loss['instead']} instead of {loss['quirk']}"
            yield f"It loses most with {lost}: {interval(loss)}."
    sure_of = []
    for instead, own in found[found["holm"] < LEVEL].groupby("instead", sort=False):
        parts = [f"{runs.name(r['method'])} {r['difference']:+.3f}" for r in rows(own)]
        sure_of.append(f"{instead}: {listed(parts)}")
    yield (
        f"Significant after Holm's correction over {len(found)} tests: "
        f"{'; '.join(sure_of) or 'nothing'}."
    )
    if len(order):
        best = order[list(METHODS)].astype(float).fillna(0.0).idxmax(axis=1).map(runs.name)
        leads = [
            f"with {done} from {first} to {then}"
            for done, first, then in zip(order["Done"][1::2], best[::2], best[1::2], strict=True)
            if first != then
        ]
        told = f"passes {listed(leads)}" if leads else "stays with the same learner"
        yield f"The best mean reciprocal rank {told}."


def _draw_effects(runs: Runs, found: pd.DataFrame) -> Any:
    from experiments.analysis.drawing import forest

    shown = found[found["method"].isin(["gradtree", "cart"])]
    group = shown["quirk"].str.capitalize() + " → " + shown["instead"]
    lines = shown.assign(group=group, label=shown["method"].map(runs.name), note="")
    axis = "Change of mean test F1 without the quirk (right: better)"
    return forest(rows(lines.assign(filled=shown["holm"] < LEVEL)), axis)


QUESTIONS = {40: leak, 70: quirks}
