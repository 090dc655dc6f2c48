"""The protocols by name and version, and what the variants of ``paper`` do otherwise.

A variant is protocol ``paper`` with one quirk (a step that a careful practitioner would do
otherwise) replaced and all else, random draws included, as it was. It is named ``paper-<slug>``.
"""

from dataclasses import dataclass
from typing import Any, Literal

FIRST_SEED = 42
HELD_OUT_SHARE = 0.2
"""Share of the test part, and of the validation part, in all rows."""


@dataclass(frozen=True)
class Steps:
    """How each step of ``paper`` that has a quirk is done; the defaults are the paper's."""

    # Which label means the training rows get for their categories.
    means: Literal["leave-one-out", "plain", "cross-fitted"] = "leave-one-out"
    fill_from: Literal["all rows", "training rows"] = "all rows"  # where fill values come from
    stratified: bool = False  # every part has the classes' shares of the whole
    noise: bool = True  # the quantiles are learned from values with noise
    rare_classes: Literal["oversample", "leave", "weigh"] = "oversample"
    bins_from_test: bool = True  # the yes/no columns of DL8.5 are made from the test rows too


@dataclass(frozen=True)
class Protocol:
    """A named way to split and prepare a dataset."""

    name: str  # a slug, so that it can stand in jobs, stores and file names
    version: str  # bumped whenever the same dataset and trial may give other numbers
    summary: str  # one line for lists
    # The protocol that this is a variant of, or itself: ``split`` of ``datasets.protocols.<base>``
    # prepares the data.
    base: str
    folds_anew: bool = False  # a cross-validation prepares each fold from the raw rows of its own
    steps: Steps = Steps()


PAPER = Protocol("paper", "1", "what produced the paper's numbers, quirks included", "paper")
CLEAN = Protocol(
    "clean", "1", "stratified, cross-fitted, learned from training rows only", "clean", True
)


def _variant(slug: str, summary: str, version: str = "1", **step: Any) -> Protocol:
    """``version`` counts changes of the variant alone; those of ``paper`` count for it too."""
    return Protocol(
        name=f"{PAPER.name}-{slug}",
        version=f"{PAPER.version}.{version}",
        summary=f"as paper, but {summary}",
        base=PAPER.name,
        steps=Steps(**step),
    )


DECLARED = (
    PAPER,
    CLEAN,
    _variant("plain-means", "training rows get the plain mean of their category", means="plain"),
    _variant(
        "cross-fitted-means",
        "training rows get the mean of their category in the other folds of five",
        means="cross-fitted",
    ),
    _variant(
        "training-fill",
        "gaps are filled with statistics of the training rows",
        fill_from="training rows",
    ),
    _variant("stratified", "the parts are stratified", stratified=True),
    _variant("no-noise", "quantiles are learned from the values as they are", noise=False),
    _variant("no-oversampling", "rare classes stay rare", rare_classes="leave"),
    _variant(
        "class-weights",
        "rows of rare classes weigh more, and learners without weights are left out",
        rare_classes="weigh",
    ),
    _variant(
        "training-bins",
        "DL8.5's yes/no columns are made from training and validation rows",
        bins_from_test=False,
    ),
)
"""A protocol is an entry here and the module that it names; everything else follows."""


def data_seed(trial: int) -> int:
    """The seed of a trial's split; the paper's trials 0..9 have seeds 42..51."""
    if trial < 0:
        raise ValueError(f"trial {trial} is negative; trials count from 0")
    return FIRST_SEED + trial
