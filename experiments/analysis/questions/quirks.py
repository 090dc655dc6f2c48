"""What does each questionable step of protocol ``paper`` do to the scores?

The experiment ``quirks`` runs the default hyperparameters under protocols that differ from
``paper`` in one step. A dataset on which every fit of every learner came out the same has
nothing that the step could act on (no categories, no gaps, no rare class) and does not enter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd

from experiments.analysis import pairwise
from experiments.analysis.answer import Answer, Figure
from experiments.analysis.grids import cells
from experiments.analysis.pairwise import CONTRAST, contrast, interval, listed, table
from experiments.analysis.printed import Printed
from experiments.analysis.ranks import mean_reciprocal_ranks
from experiments.analysis.runs import Runs
from experiments.analysis.stats import FEWEST_DATASETS, LEVEL

ORDER = 70
EXPERIMENT, BASE = "quirks", ("paper", "default")
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
    for rows in (runs.of(*BASE), runs.of(variant.protocol, EXPERIMENT)):
        kept = rows[(rows["status"] == "ok") & rows["method"].isin(variant.only)]
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
            change = pairwise.differences(
                runs, (variant.protocol, EXPERIMENT, method), (*BASE, method)
            )
            found = contrast(change[slug] for slug in slugs if slug in change.index)
            if found is not None:
                lines.append({**variant._asdict(), "method": method, **found})
    return pairwise.with_holm(lines)


def orders(runs: Runs, printed: Printed) -> pd.DataFrame:
    """Mean reciprocal ranks with and without each quirk, and GradTree minus CART.

    Over the datasets on which every learner is settled both ways: a result both times, or none
    both times.
    """
    lines: list[dict[str, Any]] = []
    base = _wide(runs, *BASE)
    for variant in VARIANTS:
        slugs = touched(runs, printed, variant)
        before = base.reindex(slugs)
        found = _wide(runs, variant.protocol, EXPERIMENT)
        after = before.copy()
        for column in before:
            if column[1] in variant.only:
                after[column] = found[column].reindex(slugs)
        settled = [_settled(before, after, method) for method in METHODS]
        kept = [slug for slug, *each in zip(slugs, *settled, strict=True) if all(each)]
        if len(kept) < FEWEST_DATASETS:
            continue
        for done, side in (("as in the paper", before), (variant.instead, after)):
            own = side["mean"].reindex(index=kept, columns=list(METHODS)).astype(float)
            gaps = contrast((own["gradtree"] - own["cart"]).dropna()) or {}
            lines.append(
                {"Quirk": variant.quirk, "Done": done, "datasets": len(kept)}
                | mean_reciprocal_ranks(own).to_dict()
                | {name: gaps.get(name) for name in LIMITS}
            )
    return pd.DataFrame(lines)


LIMITS = ("difference", "low", "high")


def _wide(runs: Runs, protocol: str, experiment: str) -> pd.DataFrame:
    """Cells with a row per dataset; columns are (field, method)."""
    fields = ("mean", "n", "expected", "missing")
    wide = cells(runs, protocol, experiment, "test_f1").unstack("method")
    return wide.reindex(columns=pd.MultiIndex.from_product([fields, METHODS]))


def _settled(before: pd.DataFrame, after: pd.DataFrame, method: str) -> pd.Series:
    """By dataset: a result from all trials both times, or none for a reason both times."""
    whole, has = [], []
    for side in (before, after):
        missing = side["missing", method].fillna("") != ""
        whole.append(missing | (side["n", method] == side["expected", method]))
        has.append(side["mean", method].notna())
    return whole[0] & whole[1] & (has[0] == has[1])


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found, order = effects(runs, printed), orders(runs, printed)
    if found.empty:
        return None
    columns = {"quirk": "Quirk", "instead": "Instead", "method": "Method", "n": "datasets"}
    columns |= {**CONTRAST, "difference": "change", "wins": "gain", "ties": "stay"}
    columns["losses"] = "lose"
    tables = [table("quirks", found.assign(method=found["method"].map(runs.name)), columns)]
    if len(order):
        names = {name: name for name in ("Quirk", "Done", "datasets")}
        names |= {method: f"MRR: {runs.name(method)}" for method in METHODS}
        names |= {name: f"GradTree minus CART: {name}" for name in LIMITS}
        tables.append(table("quirks-order", order, names))
    return Answer(
        "quirks",
        "What does each questionable step of the paper's protocol do?",
        tuple(_sentences(runs, found, order)),
        tuple(tables),
        (Figure("quirks", CAPTION, lambda: _draw(runs, found)),),
        shown=("quirks",),
    )


CAPTION = (
    "Change of mean test F1 of GradTree and CART when one questionable step is replaced, default "
    "hyperparameters, with a 95 % bootstrap interval over the datasets that it affects (their "
    "number in brackets). Filled: significant after Holm's correction over all learners."
)


def _sentences(runs: Runs, found: pd.DataFrame, order: pd.DataFrame) -> list[str]:
    mine = found[found["method"] == "gradtree"]
    sentences = []
    if len(mine):
        most = mine.loc[mine["difference"].abs().idxmax()]
        loss = mine.loc[mine["difference"].idxmin()]
        sentences.append(
            f"GradTree moves most when {most['quirk']} give way to {most['instead']}: "
            f"{interval(most)} over {most['n']} datasets."
        )
        if loss["difference"] < 0:
            sentences.append(
                f"It loses most with {loss['instead']} instead of {loss['quirk']}: "
                f"{interval(loss)}."
            )
    sure = found[found["holm"] < LEVEL]
    sure_of = [
        f"{instead}: " + listed([f"{runs.name(r['method'])} {r['difference']:+.3f}" for r in rows])
        for instead, rows in (
            (key, part.to_dict("records")) for key, part in sure.groupby("instead", sort=False)
        )
    ]
    sentences.append(
        f"Significant after Holm's correction over {len(found)} tests: "
        f"{'; '.join(sure_of) or 'nothing'}."
    )
    leads = []
    for before, after in zip(
        order[::2].to_dict("records"), order[1::2].to_dict("records"), strict=True
    ):
        first, then = (max(METHODS, key=lambda m: _or_zero(row[m])) for row in (before, after))
        if first != then:
            leads.append(f"with {after['Done']} from {runs.name(first)} to {runs.name(then)}")
    if len(order):
        told = f"passes {listed(leads)}" if leads else "stays with the same learner"
        sentences.append(f"The best mean reciprocal rank {told}.")
    return sentences


def _or_zero(value: float) -> float:
    return 0.0 if pd.isna(value) else value


def _draw(runs: Runs, found: pd.DataFrame) -> Any:
    from experiments.output.forest import forest

    lines = [
        {
            **line,
            "group": f"{line['quirk'].capitalize()} → {line['instead']}",
            "label": f"{runs.name(line['method'])} ({line['n']})",
            "filled": line["holm"] < LEVEL,
        }
        for line in found[found["method"].isin(["gradtree", "cart"])].to_dict("records")
    ]
    return forest(lines, "Change of mean test F1 without the quirk (right: better)")
