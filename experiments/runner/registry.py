"""Everything that has a name: learners, datasets, protocols, metrics, experiments, profiles, …

Each is built in or comes from a plug-in file (``experiments.runner.plugin``) named with
``--plugin``. ``entries(kind)`` has all of a kind by name, ``find(kind, name)`` one of them.
Worker processes inherit the plug-ins of the process that starts them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.errors import UserError, did_you_mean
from experiments.runner.plugin import (
    NAMES,
    Metric,
    Plugin,
    PluginDataset,
    PluginProtocol,
    imported,
)
from experiments.runs.schema import BY_NAME, METRICS

if TYPE_CHECKING:
    from baselines.contract import Learner
    from datasets.split import Split

VARIABLE = "GRADTREE_PLUGINS"
"""Environment variable with the paths of the plug-ins, as a JSON list."""


def use(files: list[str] | list[Path]) -> None:
    """Add plug-in files to this process and to those it starts; mistakes in them are told."""
    paths = [*plugin_files(), *(str(Path(file).resolve()) for file in files)]
    os.environ[VARIABLE] = json.dumps(list(dict.fromkeys(paths)))
    for kind in dict.fromkeys(NAMES.values()):
        entries(kind)


def plugin_files() -> list[str]:
    return list(json.loads(os.environ.get(VARIABLE) or "[]"))


def _built_in(kind: str) -> Mapping[str, Any]:
    if kind == "learner":
        import baselines

        return baselines.learners()
    if kind == "dataset":
        import datasets

        return datasets.all_records()
    if kind == "protocol":
        import datasets

        return datasets.PROTOCOLS
    if kind == "metric":
        return {name: Metric(name, BY_NAME[name].better or "high") for name in METRICS}
    if kind == "experiment":
        from experiments.runner.experiments import EXPERIMENTS

        return EXPERIMENTS
    if kind == "profile":
        from experiments.runner.profiles import declared_profiles

        return declared_profiles()
    if kind == "executor":
        from experiments.runner.executors.local import EXECUTORS

        return EXECUTORS
    return {}  # tables and printed numbers of the suite are read where they are used


def entries(kind: str) -> Mapping[str, Any]:
    """All of a kind by name: those of the suite, then those of plug-ins. Not to be changed."""
    return _entries(kind, os.environ.get(VARIABLE, ""))[0]


@cache
def _entries(kind: str, files: str) -> tuple[dict[str, Any], dict[str, Plugin]]:
    """All of a kind, and the plug-ins of those that come from one."""
    found, origins = dict(_built_in(kind)), {}
    for plugin in map(imported, map(Path, plugin_files())):
        for slug, entry in plugin.offers(kind):
            if slug in found:
                line = plugin.line("", slug, str(getattr(entry, "name", "")))
                raise UserError(
                    f"{plugin.path}, line {line}: there is a {kind} {slug!r} already\n"
                    "Two of one name would be mistaken for each other: rename it."
                )
            found[slug], origins[slug] = entry, plugin
    return found, origins


def find(kind: str, name: str) -> Any:
    """One of a kind; an unknown name is a ``UserError`` that suggests the nearest."""
    known = entries(kind)
    if name not in known:
        raise UserError(f"unknown {kind} {name!r}; {did_you_mean(name, known)}")
    return known[name]


def from_plugins(kind: str) -> dict[str, Any]:
    """What the plug-ins of this process offer of a kind."""
    found, origins = _entries(kind, os.environ.get(VARIABLE, ""))
    return {slug: found[slug] for slug in origins}


def is_plugin(slug: str) -> bool:
    """Whether a learner or dataset comes from a plug-in."""
    return slug in from_plugins("learner") or slug in from_plugins("dataset")


def learners() -> Mapping[str, Learner]:
    return entries("learner")


def learner(slug: str) -> Learner:
    found: Learner = find("learner", slug)
    return found


def learner_facts(slug: str) -> dict[str, Any]:
    """What a store keeps of a learner, so that tables need no learner."""
    known = learner(slug)
    told: dict[str, Any] = {
        key: getattr(known, key) for key in ("slug", "name", "version", "in_paper", "group")
    }
    plugin = _entries("learner", os.environ.get(VARIABLE, ""))[1].get(slug)
    return told if plugin is None else {**told, "source": plugin.digest, "file": plugin.path.name}


def facts(dataset: str) -> Any:
    """The record of a dataset, or the facts of a plug-in's: slug, name, task, shape, hash."""
    return find("dataset", dataset)


def dataset_facts(slug: str) -> dict[str, Any]:
    """What a store keeps of a dataset, so that tables need no data."""
    known = facts(slug)
    names = ("slug", "name", "task", "n_rows", "n_features", "in_paper")
    lists = {key: list(getattr(known, key)) for key in ("class_counts", "categorical")}
    return {**{key: getattr(known, key) for key in names}, **lists}


def resolve_dataset(text: str) -> str:
    """The slug of a dataset given by name or slug in any case."""
    import datasets
    from datasets.errors import RecordError, UnknownDatasetError

    for slug, extra in from_plugins("dataset").items():
        if text.casefold() in (slug, extra.name.casefold()):
            return str(slug)
    try:
        return datasets.resolve(text)
    except UnknownDatasetError:
        raise UserError(
            f"unknown dataset {text!r}; {did_you_mean(text, entries('dataset'))}"
        ) from None
    except RecordError as problem:
        raise UserError(f"the record of {text} has an error: {problem}") from None


def protocol_version(protocol: str) -> str:
    return str(find("protocol", protocol).version)


def protocol_base(protocol: str) -> str:
    """The protocol that a variant is made of, or the protocol itself."""
    return str(find("protocol", protocol).base)


def protocol_folds_anew(protocol: str) -> bool:
    """Whether a cross-validation prepares each fold from its raw rows."""
    return bool(find("protocol", protocol).folds_anew)


def protocol_weighs(protocol: str) -> bool:
    """Whether a protocol gives rows of rare classes more weight."""
    import datasets

    variant = datasets.VARIANTS.get(protocol)
    return variant is not None and variant.steps.rare_classes == "weigh"


@lru_cache(maxsize=2)
def load_dataset(slug: str) -> Any:
    """The verified raw table; ``None`` for a plug-in's dataset that is known by its splits alone.

    Raises ``datasets.DatasetUnavailable`` where no source delivers it.
    """
    import datasets

    known = facts(slug)
    return known.table if isinstance(known, PluginDataset) else datasets.load_dataset(slug)


def make_split(dataset: str, protocol: str, trial: int) -> Split:
    """One trial of a protocol on a dataset."""
    import datasets

    known, how = facts(dataset), find("protocol", protocol)
    if isinstance(how, PluginProtocol):
        return how.split(load_dataset(dataset), trial)
    if isinstance(known, PluginDataset):
        return known.split(protocol, trial)
    return datasets.make_split(load_dataset(dataset), protocol, trial)
