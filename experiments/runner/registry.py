"""Everything that has a name: learners, datasets, protocols, metrics, experiments, profiles, …

Each is built in or comes from a plug-in file (``experiments.runner.plugin``) named with
``--plugin``. ``entries(kind)`` has all of a kind by name, ``find(kind, name)`` one of them.
Worker processes inherit the plug-ins of the process that starts them.
"""

from __future__ import annotations

import importlib
import json
import os
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.errors import UserError, check_names, did_you_mean
from experiments.runner.plugin import READERS, Plugin, PluginProtocol, imported

if TYPE_CHECKING:
    from baselines.contract import Learner
    from datasets.split import Split

VARIABLE = "GRADTREE_PLUGINS"
"""Environment variable with the paths of the plug-ins, as a JSON list."""
BUILT_IN = {
    "learner": ("baselines", "learners"),
    "dataset": ("datasets", "all_records"),
    "protocol": ("datasets", "PROTOCOLS"),
    "metric": ("experiments.runs.schema", "METRICS"),
    "experiment": ("experiments.runner.experiments", "EXPERIMENTS"),
    "profile": ("experiments.runner.experiments", "declared_profiles"),
    "executor": ("experiments.runner.executors", "EXECUTORS"),
}
"""Module and name of the suite's own, a mapping or what returns one. Tables and printed numbers of
the suite are read where they are used."""


def use(files: list[str] | list[Path]) -> None:
    """Add plug-in files to this process and to those it starts; mistakes in them are told."""
    paths = [*plugin_files(), *(str(Path(file).resolve()) for file in files)]
    os.environ[VARIABLE] = json.dumps(list(dict.fromkeys(paths)))
    for kind, *_ in READERS.values():
        entries(kind)
    for kind in ("experiment", "profile"):
        for slug, (plugin, entry) in _origins(kind).items():
            for what, names in entry.named():
                try:
                    check_names(what, names, entries(what))
                except UserError as mistake:
                    near = [name for name in names if name not in entries(what)]
                    place = plugin.place(f"{kind.upper()}S", *near)
                    raise UserError(f"{place}: {kind} {slug!r}: {mistake}") from None


def plugin_files() -> list[str]:
    return list(json.loads(os.environ.get(VARIABLE) or "[]"))


@cache
def _entries(kind: str, files: str) -> tuple[dict[str, Any], dict[str, tuple[Plugin, Any]]]:
    """All of a kind; the plug-in and what it offered of those that come from one."""
    found: dict[str, Any] = {}
    if kind in BUILT_IN:
        module, name = BUILT_IN[kind]
        own = getattr(importlib.import_module(module), name)
        found = dict(own() if callable(own) else own)
    origins = {}
    for plugin in map(imported, map(Path, json.loads(files or "[]"))):
        for slug, entry in plugin.offers(kind):
            known = entry.record if kind == "dataset" else entry
            names = {one.name for one in found.values()} if kind == "learner" else set()
            name = str(getattr(known, "name", ""))
            if slug in found or name in names:
                taken = slug if slug in found else name
                raise UserError(
                    f"{plugin.place('', slug, name)}: there is a {kind} {taken!r} already\n"
                    "Two of one name would be mistaken for each other: rename it."
                )
            found[slug], origins[slug] = known, (plugin, entry)
    return found, origins


def entries(kind: str) -> Mapping[str, Any]:
    """All of a kind by name: those of the suite, then those of plug-ins. Not to be changed."""
    return _entries(kind, os.environ.get(VARIABLE, ""))[0]


def _origins(kind: str) -> dict[str, tuple[Plugin, Any]]:
    return _entries(kind, os.environ.get(VARIABLE, ""))[1]


def find(kind: str, name: str) -> Any:
    """One of a kind; an unknown name is a ``UserError`` that suggests the nearest."""
    known = entries(kind)
    if name not in known:
        raise UserError(f"unknown {kind} {name!r}; {did_you_mean(name, known)}")
    return known[name]


def from_plugins(kind: str) -> dict[str, Any]:
    """What the plug-ins of this process offer of a kind."""
    return {slug: entries(kind)[slug] for slug in _origins(kind)}


def learner(slug: str) -> Learner:
    found: Learner = find("learner", slug)
    return found


def learner_facts(slug: str) -> dict[str, Any]:
    """What a store keeps of a learner, so that tables need no learner."""
    known = learner(slug)
    told: dict[str, Any] = {
        key: getattr(known, key) for key in ("slug", "name", "version", "in_paper", "group")
    }
    if slug in _origins("learner"):
        plugin, _ = _origins("learner")[slug]
        told |= {"source": plugin.digest, "file": plugin.path.name}
    return told


def facts(dataset: str) -> Any:
    """The record of a dataset: slug, name, task, shape, hash."""
    return find("dataset", dataset)


def dataset_facts(slug: str) -> dict[str, Any]:
    """What a store keeps of a dataset, so that tables need no data."""
    known = facts(slug)
    names = ("slug", "name", "task", "n_rows", "n_features", "in_paper")
    lists = {key: list(getattr(known, key)) for key in ("class_counts", "categorical")}
    return {**{key: getattr(known, key) for key in names}, **lists}


def resolve_dataset(text: str) -> str:
    """The slug of a dataset given by name or slug in any case."""
    slug = "-".join(re.findall("[a-z0-9]+", text.casefold()))
    find("dataset", slug)
    return slug


@lru_cache(maxsize=2)
def load_dataset(slug: str) -> Any:
    """The verified raw table, or ``datasets.DatasetUnavailable`` where no source delivers it."""
    import datasets

    known = _origins("dataset")
    return known[slug][1] if slug in known else datasets.load_dataset(slug)


def make_split(dataset: str, protocol: str, trial: int) -> Split:
    """One trial of a protocol on a dataset."""
    import datasets

    how, table = find("protocol", protocol), load_dataset(dataset)
    if isinstance(how, PluginProtocol):
        return how.split(table, trial)
    return datasets.make_split(table, protocol, trial)
