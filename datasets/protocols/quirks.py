"""The quirks of protocol ``paper``, and what each is replaced by to see what it does.

A quirk is a step of the paper's preparation that a careful practitioner would do otherwise.
A variant is protocol ``paper`` with one such step done otherwise and all else, random draws
included, as it was. Its protocol is named ``paper-<slug>``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from datasets.protocols.base import PAPER, Protocol


@dataclass(frozen=True)
class Steps:
    """How each step that has a quirk is done; the defaults are the paper's.

    Attributes
    ----------
    means : which label means the training rows get for their categories.
    fill_from : the rows that the fill values of gaps come from.
    stratified : whether every part has the classes' shares of the whole.
    noise : whether the quantiles are learned from values with noise.
    rare_classes : what is done about a class with few training rows.
    bins_from_test : whether the yes/no columns of DL8.5 are made from the test rows too.
    """

    means: Literal["leave-one-out", "plain", "cross-fitted"] = "leave-one-out"
    fill_from: Literal["all rows", "training rows"] = "all rows"
    stratified: bool = False
    noise: bool = True
    rare_classes: Literal["oversample", "leave", "weigh"] = "oversample"
    bins_from_test: bool = True


@dataclass(frozen=True)
class Quirk:
    """One quirk of the paper's preparation.

    ``paragraph`` is the one of the protocol description (``datasets/README.md``) that tells it.
    """

    slug: str
    summary: str
    paragraph: str


@dataclass(frozen=True)
class Variant:
    """A quirk replaced by something else.

    ``version`` counts changes of the variant alone; those of ``paper`` count for it too.
    """

    slug: str
    quirk: str
    summary: str
    steps: Steps
    version: str = "1"

    @property
    def protocol(self) -> Protocol:
        return Protocol(
            name=f"{PAPER.name}-{self.slug}",
            version=f"{PAPER.version}.{self.version}",
            summary=f"as paper, but {self.summary}",
            base=PAPER.name,
        )


QUIRKS = {
    quirk.slug: quirk
    for quirk in (
        Quirk(
            "leak",
            "the category means of training rows leave out the row's own label, and so tell it",
            "2.3",
        ),
        Quirk("filling", "gaps are filled with statistics of all rows, test rows included", "1"),
        Quirk("parts", "the parts are drawn without regard to the classes", "2.2"),
        Quirk("noise", "quantiles are learned from values with noise added", "2.4"),
        Quirk("oversampling", "rare classes are brought up to the largest one", "2.5"),
        Quirk("bins", "DL8.5's yes/no columns are made from the test rows too", "2.7"),
    )
}

VARIANTS = {
    variant.protocol.name: variant
    for variant in (
        Variant(
            "plain-means",
            "leak",
            "training rows get the plain mean of their category",
            Steps(means="plain"),
        ),
        Variant(
            "cross-fitted-means",
            "leak",
            "training rows get the mean of their category in the other folds of five",
            Steps(means="cross-fitted"),
        ),
        Variant(
            "training-fill",
            "filling",
            "gaps are filled with statistics of the training rows",
            Steps(fill_from="training rows"),
        ),
        Variant("stratified", "parts", "the parts are stratified", Steps(stratified=True)),
        Variant(
            "no-noise",
            "noise",
            "quantiles are learned from the values as they are",
            Steps(noise=False),
        ),
        Variant(
            "no-oversampling",
            "oversampling",
            "rare classes stay rare",
            Steps(rare_classes="leave"),
        ),
        Variant(
            "class-weights",
            "oversampling",
            "rows of rare classes weigh more, and learners without weights are left out",
            Steps(rare_classes="weigh"),
        ),
        Variant(
            "training-bins",
            "bins",
            "DL8.5's yes/no columns are made from training and validation rows",
            Steps(bins_from_test=False),
        ),
    )
}
"""By the name of their protocol."""
