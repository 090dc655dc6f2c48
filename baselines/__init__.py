"""The learners of the suite behind one contract, found by looking into this folder.

>>> import baselines
>>> baselines.learner("cart").name
'CART'

Every module here that ends in ``LEARNER = Learner(...)`` (or ``LEARNERS``, a
tuple of variants) is found; adding a learner is adding such a file. They are
imported on first use and import their own library only when they fit, so
neither ``import baselines`` nor ``learners()`` needs any learner's library.
"""

import csv
import difflib
import functools
import importlib
import pkgutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from baselines.contract import Fitted, Learner, Params, Split, Task, class_probabilities

__all__ = [
    "Fitted",
    "Learner",
    "Params",
    "Split",
    "Task",
    "class_probabilities",
    "learner",
    "learners",
    "published_params",
]

PAPER = Path(__file__).resolve().parents[1] / "results" / "paper"
PAPER_ORDER = ("gradtree", "dndt", "genetictree", "dl85", "cart")


@functools.cache
def _registry() -> dict[str, Learner]:
    found = sorted(_discover(), key=lambda learner: (_rank(learner), learner.slug))
    registry = {learner.slug: learner for learner in found}
    if len(registry) < len(found):
        raise RuntimeError(f"two learners share a slug: {[learner.slug for learner in found]}")
    return registry


def _rank(learner: Learner) -> int:
    """The paper's column order, then its variants, then what is beyond the paper."""
    if learner.slug in PAPER_ORDER:
        return PAPER_ORDER.index(learner.slug)
    return len(PAPER_ORDER) + (not learner.in_paper)


def _discover() -> Iterator[Learner]:
    for info in pkgutil.iter_modules(__path__):
        if info.ispkg:
            continue
        try:
            module = importlib.import_module(f"{__name__}.{info.name}")
        except Exception as problem:  # one broken module must not stop the others
            told = f"{type(problem).__name__}: {problem}"
            warnings.warn(f"baselines/{info.name}.py left out: {told}", stacklevel=2)
            continue
        if hasattr(module, "LEARNER"):
            yield module.LEARNER
        yield from getattr(module, "LEARNERS", ())


def learners() -> dict[str, Learner]:
    """All learners by slug: the paper's columns in their order, variants, others."""
    return dict(_registry())


def learner(slug: str) -> Learner:
    """The learner of that slug; a ``KeyError`` names the nearest ones if there is none."""
    registry = _registry()
    if slug not in registry:
        near = difflib.get_close_matches(slug.lower(), registry, n=2) or list(registry)
        raise KeyError(f"no learner {slug!r}; did you mean {' or '.join(near)}?")
    return registry[slug]


def published_params(slug: str, dataset_name: str, task: Task) -> dict[str, Any]:
    """Complete parameters of the paper's tuned experiment on a dataset, by the name it prints.

    The learner's defaults, overridden by what the paper publishes. A learner the paper did not
    tune, or a dataset it gives no row for (DNDT above 12 features), has just the defaults.
    """
    chosen = learner(slug)
    params = chosen.defaults(task)
    if chosen.published is None or chosen.translate is None:
        return params
    row = _published_rows(chosen.published).get(dataset_name)
    return params if row is None else {**params, **chosen.translate(row, task)}


@functools.cache
def _published_rows(file_name: str) -> dict[str, dict[str, str]]:
    with (PAPER / file_name).open(newline="", encoding="utf-8") as file:
        return {row["dataset"]: row for row in csv.DictReader(file)}
