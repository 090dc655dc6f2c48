"""Learners and datasets by slug: those of the suite, and those a user adds without touching it.

A plug-in is an importable module named in ``GRADTREE_PLUGINS`` (or with
``--plugin``) that offers ``LEARNERS`` (a list of ``baselines.Learner``) or
``DATASETS`` (a list of ``ExtraDataset``). Workers inherit the variable, so
they see what the command line saw.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from baselines.contract import Learner
    from datasets.split import Split, Task


VARIABLE = "GRADTREE_PLUGINS"


class Facts(Protocol):
    """What the catalogue needs to know of a dataset, without its data."""

    @property
    def slug(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def task(self) -> Task: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def class_counts(self) -> Any: ...
    @property
    def content_hash(self) -> str: ...


@dataclass(frozen=True)
class ExtraDataset:
    """A dataset offered by a plug-in: its facts, and how a trial of a protocol is made."""

    slug: str
    name: str
    task: Task
    n_features: int
    n_rows: int
    class_counts: tuple[int, ...]
    content_hash: str
    split: Callable[[str, int], Split]


@dataclass(frozen=True)
class Extras:
    learners: Mapping[str, Learner]
    datasets: Mapping[str, ExtraDataset]


def extras() -> Extras:
    """What the plug-ins of this process offer."""
    return _load(os.environ.get(VARIABLE, ""))


@cache
def _load(names: str) -> Extras:
    modules = [_import(name) for name in names.split(",") if name]
    learners = [learner for module in modules for learner in getattr(module, "LEARNERS", ())]
    datasets = [dataset for module in modules for dataset in getattr(module, "DATASETS", ())]
    _refuse_known([learner.slug for learner in learners])
    return Extras(
        learners={learner.slug: learner for learner in learners},
        datasets={dataset.slug: dataset for dataset in datasets},
    )


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as problem:
        if problem.name != name:
            raise
        raise SystemExit(
            f"no plug-in module {name!r}: is the folder it lies in named in PYTHONPATH?"
        ) from None


def _refuse_known(learner_slugs: list[str]) -> None:
    """A plug-in that took the name of a learner of the suite would be mistaken for it."""
    import baselines

    for slug in learner_slugs:
        if slug in baselines.learners():
            raise SystemExit(f"a plug-in calls its learner {slug!r}, as the suite does: rename it")


def use(names: list[str]) -> None:
    """Add plug-in modules to this process and to those it starts."""
    known = [name for name in os.environ.get(VARIABLE, "").split(",") if name]
    os.environ[VARIABLE] = ",".join(dict.fromkeys([*known, *names]))


def learner(slug: str) -> Learner:
    """The learner of that slug; an unknown one is a ``KeyError`` that lists the known."""
    if slug in extras().learners:
        return extras().learners[slug]
    import baselines

    return baselines.learner(slug)


def learner_slugs() -> list[str]:
    import baselines

    return [*baselines.learners(), *extras().learners]


def beyond_the_paper() -> list[str]:
    """The suite's own learners that the paper does not have."""
    import baselines

    return [slug for slug, known in baselines.learners().items() if not known.in_paper]


def facts(slug: str) -> Facts:
    """The facts of a dataset of the suite or of a plug-in."""
    if slug in extras().datasets:
        return extras().datasets[slug]
    import datasets

    return datasets.record(slug)


def resolve_dataset(text: str) -> str:
    """The slug of a dataset given by name or slug in any case."""
    if text in extras().datasets:
        return text
    import datasets

    return datasets.resolve(text)


def protocols() -> list[str]:
    import datasets

    return list(datasets.PROTOCOLS)


def protocol_version(protocol: str) -> str:
    import datasets

    if protocol not in datasets.PROTOCOLS:
        raise KeyError(f"unknown protocol {protocol!r}; known are {', '.join(protocols())}")
    return datasets.PROTOCOLS[protocol].version
