"""Learners and datasets by slug: those of the suite, and those a user adds without touching it.

A plug-in is a module, or the path of a Python file, named with ``--plugin`` (or
in ``GRADTREE_PLUGINS``) that offers ``LEARNERS`` or ``DATASETS``::

    # mine.py
    import pandas as pd
    from sklearn.tree import DecisionTreeClassifier
    from baselines import Fitted, Learner

    DATASETS = {"My shop": (pd.read_csv("shop.csv"), "bought")}  # name: table, target column

    def fit(split, params, seed):
        X, y = split.X_train_valid, split.y_train_valid
        model = DecisionTreeClassifier(**params, random_state=seed).fit(X, y)
        return Fitted(model, X, y, tree=None, size=model.tree_.node_count)

    LEARNERS = [Learner("shallow", "Shallow tree", "1", lambda task: {"max_depth": 2}, fit)]

Then ``scripts/run_dataset.py my-shop --plugin mine.py`` runs every learner on it, and
``tables`` and ``report`` show it: the store knows the names. Columns of text are
categories, and gaps are filled as a protocol fills them. A plug-in that makes its
splits itself offers a list of ``ExtraDataset`` instead. Workers inherit the
variable, so they see what the command line saw.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from experiments.core.checks import UserError

if TYPE_CHECKING:
    import pandas as pd

    from baselines.contract import Learner
    from datasets.dataset import Dataset
    from datasets.split import Split, Task


VARIABLE = "GRADTREE_PLUGINS"
DATASETS_FORM = (
    "a plug-in's DATASETS is {name: (pandas table, target column)} or a list of ExtraDataset"
)


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
    categorical: tuple[str, ...] = ()
    table: Dataset | None = None
    """The raw table, where there is one: trees are then drawn in its units."""


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
    datasets = [
        dataset for module in modules for dataset in _datasets_of(getattr(module, "DATASETS", ()))
    ]
    _refuse_known([each.slug for each in learners], [each.slug for each in datasets])
    return Extras(
        learners={learner.slug: learner for learner in learners},
        datasets={dataset.slug: dataset for dataset in datasets},
    )


def _datasets_of(offered: Any) -> Iterator[ExtraDataset]:
    """``DATASETS`` as a list of ``ExtraDataset``, or as ``{name: (table, target)}``."""
    if not isinstance(offered, Mapping):
        for each in offered:
            if not isinstance(each, ExtraDataset):
                raise UserError(f"{DATASETS_FORM}, not a list with a {type(each).__name__}")
            yield each
        return
    for name, pair in offered.items():
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise UserError(f"{DATASETS_FORM}; {name!r} has a {type(pair).__name__}")
        yield from_table(name, *pair)


def from_table(name: str, table: pd.DataFrame, target: Hashable) -> ExtraDataset:
    """A dataset from a pandas table and the name of its target column."""
    import datasets

    slug = "-".join(re.findall("[a-z0-9]+", name.lower()))
    try:
        made = datasets.from_table(slug, name, table, target)
    except ValueError as problem:
        raise UserError(f"the plug-in's table {name!r} is no dataset: {problem}") from None
    record = made.record
    return ExtraDataset(
        slug=slug,
        name=name,
        task=record.task,
        n_features=record.n_features,
        n_rows=record.n_rows,
        class_counts=tuple(record.class_counts),
        content_hash=record.content_hash,
        split=partial(datasets.make_split, made),
        categorical=tuple(record.categorical),
        table=made,
    )


def _import(name: str) -> ModuleType:
    if name.endswith(".py"):
        return _import_file(Path(name))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as problem:
        if problem.name != name:
            raise
        raise UserError(
            f"no plug-in module {name!r}: give the path of its file, or name the folder it lies "
            "in with PYTHONPATH"
        ) from None


def _import_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UserError(f"no plug-in file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _refuse_known(method_slugs: list[str], dataset_slugs: list[str]) -> None:
    """A plug-in that took the name of something of the suite would be mistaken for it."""
    import baselines
    import datasets

    for slug in method_slugs:
        if slug in baselines.learners():
            raise UserError(f"a plug-in calls its learner {slug!r}, as the suite does: rename it")
    for slug in dataset_slugs:
        if slug in datasets.all_records():
            raise UserError(f"a plug-in calls its dataset {slug!r}, as the suite does: rename it")


def use(names: list[str]) -> None:
    """Add plug-in modules to this process and to those it starts."""
    known = [name for name in os.environ.get(VARIABLE, "").split(",") if name]
    wanted = [str(Path(name).resolve()) if name.endswith(".py") else name for name in names]
    os.environ[VARIABLE] = ",".join(dict.fromkeys([*known, *wanted]))
    extras()


def learner(slug: str) -> Learner:
    """The learner of that slug; an unknown one is a ``KeyError`` that lists the known."""
    if slug in extras().learners:
        return extras().learners[slug]
    import baselines

    return baselines.learner(slug)


def method_slugs() -> list[str]:
    import baselines

    return [*baselines.learners(), *extras().learners]


def dataset_slugs() -> list[str]:
    """All datasets: the paper's in its order, others of the suite, those of plug-ins."""
    import datasets

    return [*datasets.all_records(), *extras().datasets]


def facts(slug: str) -> Facts:
    """The facts of a dataset of the suite or of a plug-in."""
    if slug in extras().datasets:
        return extras().datasets[slug]
    import datasets

    return datasets.record(slug)


def resolve_dataset(text: str) -> str:
    """The slug of a dataset given by name or slug in any case."""
    for slug, extra in extras().datasets.items():
        if text.casefold() in (slug, extra.name.casefold()):
            return slug
    import datasets
    from datasets.errors import RecordError

    try:
        return datasets.resolve(text)
    except RecordError as problem:
        raise UserError(f"the record of {text} has an error: {problem}") from None


def protocols() -> list[str]:
    import datasets

    return list(datasets.PROTOCOLS)


def protocol_version(protocol: str) -> str:
    import datasets

    return datasets.protocol(protocol).version


def protocol_folds_anew(protocol: str) -> bool:
    import datasets

    return datasets.protocol(protocol).folds_anew


def protocol_base(protocol: str) -> str:
    """The protocol that a variant is made of, or the protocol itself."""
    import datasets

    return datasets.protocol(protocol).base


def protocol_weighs(protocol: str) -> bool:
    """Whether a protocol gives rows of rare classes more weight."""
    import datasets

    variant = datasets.VARIANTS.get(protocol)
    return variant is not None and variant.steps.rare_classes == "weigh"
