"""What each quirk of protocol ``paper`` does: one replaced at a time, all else as in the paper.

The experiment ``quirks`` runs the default hyperparameters under protocols that
differ from ``paper`` in one step (``datasets/protocols/quirks.py``). Here its
records are set beside those of ``default`` under ``paper``, dataset by dataset. A
dataset on which every fit of every learner came out the same has nothing that
the quirk could act on (no categories, no gaps, no rare class) and does not enter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.analysis import statistics
from experiments.analysis.duels import contrast_columns, contrast_entries, difference
from experiments.analysis.grids import Address, Results
from experiments.analysis.model import Cell, Entry, Sheet, SheetColumn
from experiments.analysis.paper import Paper, method_name
from experiments.analysis.ranking import OrderChange, order_change
from experiments.analysis.statistics import FEWEST_DATASETS, Contrast

EXPERIMENT, BASE = "quirks", ("paper", "default")
METHODS = ("gradtree", "dndt", "genetictree", "dl85", "cart")


@dataclass(frozen=True)
class Variant:
    """A quirk, and what stands in its place under a protocol.

    ``only`` names the learners that the quirk concerns; the others keep their scores.
    """

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


@dataclass(frozen=True)
class QuirkEffect:
    """Test F1 of one learner with a quirk replaced minus that of the paper's protocol."""

    variant: Variant
    method: str
    contrast: Contrast


@dataclass(frozen=True)
class QuirkOrder:
    """What a replaced quirk does to the order, and to GradTree's distance from CART."""

    variant: Variant
    order: OrderChange
    before: Contrast | None
    after: Contrast | None


def quirk_effects(results: Results, paper: Paper) -> list[QuirkEffect]:
    """Every quirk and learner with enough datasets; Holm's correction is over all of them."""
    found = []
    for variant in VARIANTS:
        slugs = touched(results, paper, variant)
        for method in variant.only:
            changes = (_change(results, variant, slug, method) for slug in slugs)
            contrast = statistics.contrast_of_known(changes)
            if contrast is not None:
                found.append(QuirkEffect(variant, method, contrast))
    return statistics.corrected_lines(found)


def touched(results: Results, paper: Paper, variant: Variant) -> list[str]:
    """Datasets on which at least one fit came out otherwise without the quirk."""
    return [
        dataset.slug
        for dataset in paper.datasets
        if any(_differs(results, variant, dataset.slug, method) for method in variant.only)
    ]


def _differs(results: Results, variant: Variant, dataset: str, method: str) -> bool:
    fits = [
        {
            (attempt.trial, attempt.seed): attempt.record.scores()
            for attempt in results.attempts.get(address, ())
            if attempt.record is not None and attempt.record.status == "ok"
        }
        for address in (_base(dataset, method), _address(variant, dataset, method))
    ]
    return any(fits[0][at] != fits[1][at] for at in fits[0].keys() & fits[1].keys())


def _base(dataset: str, method: str) -> Address:
    return (*BASE, dataset, method)


def _address(variant: Variant, dataset: str, method: str) -> Address:
    return (variant.protocol, EXPERIMENT, dataset, method)


def _change(results: Results, variant: Variant, dataset: str, method: str) -> float | None:
    after = results.cell(*_address(variant, dataset, method), "test_f1")
    return difference(after, results.cell(*_base(dataset, method), "test_f1"))


def quirk_orders(results: Results, paper: Paper) -> list[QuirkOrder]:
    """The learners by MRR with and without each quirk, on the datasets that it touches.

    Only rows count in which every learner is settled both ways: a result both times, or
    none both times.
    """
    found = []
    for variant in VARIANTS:
        rows = [
            (before, after)
            for slug in touched(results, paper, variant)
            for before, after in [_rows(results, variant, slug)]
            if _settled(before, after)
        ]
        if len(rows) >= FEWEST_DATASETS:
            before, after = ([row[at] for row in rows] for at in (0, 1))
            order = order_change(before, after, METHODS)
            found.append(QuirkOrder(variant, order, _against_cart(before), _against_cart(after)))
    return found


def _rows(
    results: Results, variant: Variant, dataset: str
) -> tuple[tuple[Cell, ...], tuple[Cell, ...]]:
    before = tuple(results.cell(*_base(dataset, method), "test_f1") for method in METHODS)
    after = tuple(
        results.cell(*_address(variant, dataset, method), "test_f1")
        if method in variant.only
        else cell
        for method, cell in zip(METHODS, before, strict=True)
    )
    return before, after


def _settled(before: Sequence[Cell], after: Sequence[Cell]) -> bool:
    return all(
        a.complete and b.complete and (a.mean is None) == (b.mean is None)
        for a, b in zip(before, after, strict=True)
    )


def _against_cart(rows: Sequence[Sequence[Cell]]) -> Contrast | None:
    mine, other = METHODS.index("gradtree"), METHODS.index("cart")
    return statistics.contrast_of_known(difference(row[mine], row[other]) for row in rows)


def quirks_sheet(found: Sequence[QuirkEffect]) -> Sheet:
    """Which quirk moves which learner by how much."""
    rows: list[tuple[Entry, ...]] = [
        (
            each.variant.quirk,
            each.variant.instead,
            method_name(each.method),
            each.contrast.n,
            *contrast_entries(each.contrast),
        )
        for each in found
    ]
    return Sheet(
        name="quirks",
        title="What each quirk does",
        caption="Mean test F1 with one quirk replaced minus mean test F1 under protocol paper, "
        "with default hyperparameters, over the datasets that the quirk affects, with a 95 % "
        "interval (paired bootstrap over datasets); datasets that gain, stay and lose; Wilcoxon's "
        "p, uncorrected and with Holm's correction over this table",
        source="protocol paper and its variants",
        columns=(
            SheetColumn("Quirk"),
            SheetColumn("Instead"),
            SheetColumn("Method"),
            SheetColumn("datasets", 0),
            *contrast_columns("change", "gain", "stay", "lose"),
        ),
        rows=tuple(rows),
    )


def orders_sheet(found: Sequence[QuirkOrder]) -> Sheet:
    """MRR of every learner with and without each quirk, and GradTree minus CART."""
    rows: list[tuple[Entry, ...]] = []
    for each in found:
        for label, order, gap in (
            ("as in the paper", each.order.before, each.before),
            (each.variant.instead, each.order.after, each.after),
        ):
            scores = dict(order)
            limits: tuple[Entry, ...] = (None, None, None)
            if gap is not None:
                limits = (gap.difference.estimate, gap.difference.low, gap.difference.high)
            values = (scores.get(method) for method in METHODS)
            rows.append((each.variant.quirk, label, each.order.datasets, *values, *limits))
    return Sheet(
        name="quirks-order",
        title="What each quirk does to the order",
        caption="Mean reciprocal rank of test F1 with default hyperparameters over the datasets "
        "that the quirk affects, as in the paper and with the quirk replaced, and the mean "
        "difference between GradTree and CART with a 95 % interval",
        source="protocol paper and its variants",
        columns=(
            SheetColumn("Quirk"),
            SheetColumn("Done"),
            SheetColumn("datasets", 0),
            *(SheetColumn(method_name(method), group="MRR") for method in METHODS),
            *(
                SheetColumn(name, group="GradTree minus CART", kind="change")
                for name in ("difference", "low", "high")
            ),
        ),
        rows=tuple(rows),
    )
