"""What does each questionable step of protocol ``paper`` do to the scores?

The experiment ``quirks`` runs the default hyperparameters under protocols that differ from
``paper`` in one step. A dataset on which every fit of every learner came out the same has
nothing that the step could act on (no categories, no gaps, no rare class) and does not enter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd

from experiments.analysis import pairwise
from experiments.analysis.answer import Answer, figure, table
from experiments.analysis.grids import cells
from experiments.analysis.pairwise import contrast, interval, listed, rows
from experiments.analysis.printed import Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import FEWEST_DATASETS, LEVEL, contributions, over_datasets

EXPERIMENT, BASE = "quirks", ("paper", "default")
LIMITS = ("difference", "low", "high")
METHODS = ("gradtree", "dndt", "genetictree", "dl85", "cart")
REPEATED = (
    *("train_f1", "valid_f1", "test_f1", "test_accuracy", "test_balanced_accuracy"),
    *("test_roc_auc", "test_log_loss", "tree_size", "depth", "leaves", "epochs"),
)
"""What is equal in two fits that came out the same."""


class Variant(NamedTuple):
    """A protocol that replaces one step of ``paper``; ``only`` are the learners it concerns."""

    protocol: str
    quirk: str
    instead: str
    only: tuple[str, ...] = METHODS


VARIANTS = (
    Variant("paper-plain-means", "leave-one-out means of categories", "plain means"),
    Variant("paper-cross-fitted-means", "leave-one-out means of categories", "cross-fitted means"),
    Variant("paper-training-fill", "gaps filled from all rows", "from training rows"),
    Variant("paper-stratified", "unstratified parts", "stratified parts"),
    Variant("paper-no-noise", "noise before the quantile transform", "no noise"),
    Variant("paper-no-oversampling", "oversampled rare classes", "left rare"),
    Variant(
        "paper-class-weights", "oversampled rare classes", "weights, where a learner takes them"
    ),
    Variant("paper-training-bins", "DL8.5 binarised with the test rows", "without them", ("dl85",)),
)


def touched(runs: Runs, printed: Printed, variant: Variant) -> list[str]:
    """Datasets on which at least one fit came out otherwise without the quirk."""
    place = ["dataset", "method", "trial", "seed"]
    sides = []
    for fits in (runs.of(*BASE), runs.of(variant.protocol, EXPERIMENT)):
        kept = fits[(fits["status"] == "ok") & fits["method"].isin(variant.only)]
        sides.append(kept.drop_duplicates(place, keep="last").set_index(place)[list(REPEATED)])
    shared = sides[0].index.intersection(sides[1].index)
    before, after = sides[0].loc[shared], sides[1].loc[shared]
    moved = ((before != after) & ~(before.isna() & after.isna())).any(axis=1)
    slugs = set(shared[moved.to_numpy()].get_level_values("dataset"))
    return [slug for slug in pairwise.slugs_of(printed) if slug in slugs]


def effects(runs: Runs, printed: Printed) -> pd.DataFrame:
    """Test F1 of a learner with a quirk replaced minus that under ``paper``, a line for each."""
    lines = []
    for variant in VARIANTS:
        slugs = touched(runs, printed, variant)
        for method in variant.only:
            sides = (variant.protocol, EXPERIMENT, method), (*BASE, method)
            change = pairwise.differences(runs, *sides)
            found = contrast(change[slug] for slug in slugs if slug in change.index)
            if found is not None:
                lines.append({**variant._asdict(), "method": method, **found})
    return pairwise.with_holm(lines)


def orders(runs: Runs, printed: Printed) -> pd.DataFrame:
    """Mean reciprocal ranks with and without each quirk, and GradTree minus CART.

    Over the datasets on which every learner is settled both ways: a result from all trials both
    times, or none for a reason both times.
    """
    lines: list[dict[str, Any]] = []
    wanted = pd.MultiIndex.from_product([("mean", "n", "expected", "missing"), METHODS])
    for variant in VARIANTS:
        slugs = touched(runs, printed, variant)
        before, after = (
            cells(runs, *place, "test_f1").unstack("method").reindex(slugs, columns=wanted)
            for place in (BASE, (variant.protocol, EXPERIMENT))
        )
        for column in wanted:
            if column[1] not in variant.only:
                after[column] = before[column]
        settled = before["mean"].notna() == after["mean"].notna()
        for side in (before, after):
            settled &= (side["missing"].fillna("") != "") | (side["n"] == side["expected"])
        kept = settled.index[settled.all(axis=1)]
        for done, side in (("as in the paper", before), (variant.instead, after)):
            if len(kept) >= FEWEST_DATASETS:
                own = side.loc[kept, "mean"].astype(float)
                gaps = contrast((own["gradtree"] - own["cart"]).dropna()) or {}
                line = {"Quirk": variant.quirk, "Done": done, "datasets": len(kept)}
                each = contributions(own, "MRR")
                line |= {str(m): over_datasets(each[m])["value"] for m in each}
                lines.append(line | {name: gaps.get(name) for name in LIMITS})
    return pd.DataFrame(lines)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found, order = effects(runs, printed), orders(runs, printed)
    if found.empty:
        return None
    names = {method: f"MRR: {runs.name(method)}" for method in METHODS}
    names |= {name: f"GradTree minus CART: {name}" for name in LIMITS}
    tables = [table("quirks", found, runs.name)]
    tables += [table("quirks-order", order.rename(columns=names))] if len(order) else []
    title = "What does each questionable step of the paper's protocol do?"
    drawn = figure("quirks", lambda: _draw(runs, found))
    return Answer("quirks", title, _sentences(runs, found, order), tables, [drawn], ["quirks"])


def _sentences(runs: Runs, found: pd.DataFrame, order: pd.DataFrame) -> list[str]:
    mine = sorted(rows(found, method="gradtree"), key=lambda line: line["difference"])
    sentences = []
    if mine:
        most, loss = max(mine, key=lambda line: abs(line["difference"])), mine[0]
        sentences.append(
            f"GradTree moves most when {most['quirk']} give way to {most['instead']}: "
            f"{interval(most)} over {most['n']} datasets."
        )
        told = f"It loses most with {loss['instead']} instead of {loss['quirk']}: {interval(loss)}."
        sentences += [told] if loss["difference"] < 0 else []
    sure_of = []
    for instead, own in found[found["holm"] < LEVEL].groupby("instead", sort=False):
        parts = [f"{runs.name(r['method'])} {r['difference']:+.3f}" for r in rows(own)]
        sure_of.append(f"{instead}: {listed(parts)}")
    sentences.append(
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
        sentences.append(f"The best mean reciprocal rank {told}.")
    return sentences


def _draw(runs: Runs, found: pd.DataFrame) -> Any:
    from experiments.analysis.drawing import forest

    shown = found[found["method"].isin(["gradtree", "cart"])]
    lines = shown.assign(
        group=shown["quirk"].str.capitalize() + " → " + shown["instead"],
        label=shown["method"].map(runs.name) + " (" + shown["n"].astype(str) + ")",
        filled=shown["holm"] < LEVEL,
    )
    return forest(rows(lines), "Change of mean test F1 without the quirk (right: better)")


QUESTIONS = {70: answer}
