"""Everything that has a name: learners, datasets, protocols, metrics, experiments, profiles, …

Each is built in or comes from a plug-in, a Python file named with ``--plugin``, which may define

    LEARNER or LEARNERS   one or several ``baselines.Learner``
    DATASETS              {name: (pandas table, target column)}
    PROTOCOLS             {name: split(dataset, trial) -> datasets.Split}
    METRICS               {name: f(y, p)}, or (f, "low") where less is better
    EXPERIMENTS, PROFILES, TABLES
                          {name: {...}} with the keys of experiments.toml, profiles.toml, grids.toml
    PRINTED               {name: {...}}: printed tables of another paper
    EXECUTORS             {name: make(workers, limits)}

``entries(kind)`` has all of a kind by name, ``find(kind, name)`` one of them. Worker processes
inherit the plug-ins of the process that starts them. Every mistake in a plug-in is a ``UserError``
of two lines that name file and line.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from experiments.errors import UserError, check_fields, check_names, check_value, misfits
from experiments.runs.schema import SLUG, Column

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
                near = [name for name in names if name not in entries(what)]
                place = plugin.place(f"{kind.upper()}S", *near)
                check_names(what, near, entries(what), f"{place}: {kind} {slug!r}: ")


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
            taken = {*found, *(one.name for one in found.values() if kind == "learner")}
            name = str(getattr(known, "name", ""))
            for twice in sorted({slug, name} & taken):
                raise UserError(
                    f"{plugin.place('', slug, name)}: there is a {kind} {twice!r} already\n"
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
        check_names(kind, [name], known)
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
    names = ("slug", "name", "version", "in_paper", "group")
    told: dict[str, Any] = {name: getattr(known, name) for name in names}
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


# Plug-ins.


@dataclass(frozen=True)
class PluginProtocol:
    """A protocol of a plug-in; its version changes with the source of its function."""

    version: str
    summary: str
    base: str
    split: Callable[[Any, int], Split]
    folds_anew: bool = False


@dataclass(frozen=True)
class Plugin:
    """An imported plug-in file."""

    path: Path
    module: ModuleType
    tree: ast.Module

    @property
    def digest(self) -> str:
        """Hash of the code that can change a learner: no comments, tables, datasets or metrics."""
        others = {name for name, (kind, *_) in READERS.items() if kind != "learner"}
        body = [node for node in self.tree.body if not others & set(_targets(node))]
        return hashlib.sha256("".join(map(ast.dump, body)).encode()).hexdigest()[:16]

    def place(self, name: str, *near: str) -> str:
        """File and line: the first with one of the texts ``near``, or where ``name`` is defined."""
        texts = [node for node in ast.walk(self.tree) if isinstance(node, ast.Constant)]
        lines = [node.lineno for node in texts if node.value in near and node.value != ""]
        lines += [node.lineno for node in self.tree.body if name in _targets(node)]
        return f"{self.path}, line {next(iter(lines), 1)}"

    def offers(self, kind: str) -> Iterator[tuple[str, Any]]:
        """What the file defines of a kind, checked; a mistake names file and line."""
        for name, (of, form, read) in READERS.items():
            if of != kind or not hasattr(self.module, name):
                continue
            offered = getattr(self.module, name)
            if kind == "learner":
                many = name == "LEARNERS" and isinstance(offered, list | tuple)
                learners = offered if many else [offered]
                items = [(getattr(one, "slug", ""), one) for one in learners]
            elif isinstance(offered, Mapping):
                items = list(offered.items())
            else:
                told = f"{name} is a {type(offered).__name__}\nWrite {name} = {{name: {form}}}."
                raise UserError(f"{self.place(name)}: {told}")
            for title, given in items:
                try:
                    slug, entry = read(name, title, given, self)
                    if not (isinstance(slug, str) and SLUG.fullmatch(slug)):
                        letters = "Write lower-case letters, digits and hyphens."
                        raise ValueError(f"it cannot be a {kind}'s name\n{letters}")
                except ValueError as problem:
                    told = f"{title!r:.80} of {name}: {problem}"
                    raise UserError(f"{self.place(name, str(title))}: {told}") from None
                yield slug, entry


def _targets(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


@cache
def imported(path: Path) -> Plugin:
    """Import a file under a name of its own, so that it hides no other module."""
    if not path.is_file() or path.suffix != ".py":
        raise UserError(f"no plug-in {path}: name the path of a Python file, such as mine.py")
    name = f"plugin_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    try:
        tree = ast.parse(path.read_bytes(), str(path))
        module = sys.modules[name] = ModuleType(name)
        module.__file__ = str(path)
        if str(path.parent) not in sys.path:
            sys.path.append(str(path.parent))  # last: helpers beside it hide nothing
        exec(compile(tree, str(path), "exec"), vars(module))
    except (Exception, SystemExit) as problem:
        frames = [(f.filename, f.lineno) for f in traceback.extract_tb(problem.__traceback__)]
        if isinstance(problem, SyntaxError):
            frames.append((problem.filename or "", problem.lineno))
        line = next((line for file, line in reversed(frames) if file == str(path)), 1)
        told = " ".join(f"{type(problem).__name__}: {problem}".split())
        raise UserError(f"{path}, line {line}: {told:.300}\nIt cannot be imported.") from None
    if not any(hasattr(module, name) for name in READERS):
        raise UserError(f"{path}, line 1: nothing is offered\nDefine one of {', '.join(READERS)}.")
    return Plugin(path, module, tree)


# What a plug-in may define: how each is checked and made, or refused by a ``ValueError``.


def _learner(name: str, slug: Any, given: Any, plugin: Plugin) -> tuple[str, Learner]:
    """What would end a run, or spoil it without a word, is told before it begins."""
    from baselines.contract import Learner

    if not isinstance(given, Learner):
        kind = given.__name__ if isinstance(given, type) else type(given).__name__
        raise ValueError(f"it is a {kind}\nWrite baselines.Learner(slug, name, version, …).")
    # slugs of all kinds are checked in one place
    check_fields("learner", Learner, {**vars(given), "slug": "any"})
    if "," in given.name or not given.name.isprintable():
        raise ValueError(f"name is {given.name!r}\nWrite a text without commas and line breaks.")
    if not all(given.space.values()):
        raise ValueError(f"space is {given.space!r:.80}\nWrite a value or more in every list.")
    for task in given.tasks:
        try:
            made = given.defaults(task)
        except Exception as problem:
            told = f"{type(problem).__name__}: {problem}"
            raise ValueError(f"defaults({task!r}) fails\n{told}") from None
        check_value(f"defaults({task!r})", made, dict[str, Any])
    return slug, given


def _dataset(name: str, title: Any, given: Any, plugin: Plugin) -> tuple[str, Any]:
    import datasets

    if not (isinstance(title, str) and isinstance(given, tuple) and len(given) == 2):
        raise ValueError(f"it is a {type(given).__name__}\nWrite {READERS[name][1]}.")
    slug = "-".join(re.findall("[a-z0-9]+", title.lower()))
    return slug, datasets.from_table(slug, title, *given)


def _function(name: str, slug: Any, given: Any, plugin: Plugin) -> tuple[str, Any]:
    """Metrics, protocols and executors."""
    pair = name == "METRICS" and isinstance(given, tuple) and len(given) == 2
    better: Any
    function, better = given if pair else (given, "high")
    if [*misfits(function, Callable[[Any, Any], Any])] or better not in ("high", "low"):
        told = f"it is {given!r:.60}, no function of two arguments"
        raise ValueError(f"{told}\nWrite {READERS[name][1]}.")
    if name == "METRICS":
        shown = {"better": better, "in_tables": str(slug).replace("_", " "), "score": function}
        return slug, Column(slug, float, "score", f"of {plugin.path.name}", **shown)
    if name == "EXECUTORS":
        return slug, function
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        source = plugin.digest
    version = hashlib.sha256(source.encode()).hexdigest()[:12]
    about = (inspect.getdoc(function) or f"from {plugin.path.name}").splitlines()[0]
    return slug, PluginProtocol(version, about, slug, function)


def _declared(name: str, slug: Any, given: Any, plugin: Plugin) -> tuple[str, Any]:
    """With the keys of the suite's own files; paths are from the plug-in's folder."""
    from experiments.runner.experiments import experiment_from, profile_from

    if not isinstance(given, Mapping):
        raise ValueError(f"it is a {type(given).__name__}\nWrite {{key: value}}.")
    if name in ("EXPERIMENTS", "PROFILES"):
        return slug, (experiment_from if name == "EXPERIMENTS" else profile_from)(slug, given)
    # The analysis makes tables, and tells of mistakes where they stand.
    found = {**given, "where": plugin.place(name, slug)}
    if isinstance(given.get("csv"), str | Path):
        found["csv"] = plugin.path.parent / given["csv"]
    return slug, found


READERS: dict[str, tuple[str, str, Callable[[str, Any, Any, Plugin], tuple[str, Any]]]] = {
    "LEARNER": ("learner", "Learner", _learner),
    "LEARNERS": ("learner", "Learner", _learner),
    "DATASETS": ("dataset", "(pandas table, target column)", _dataset),
    "PROTOCOLS": ("protocol", "split(dataset, trial)", _function),
    "METRICS": ("metric", 'f(y, p), or (f, "low") where less is better', _function),
    "EXPERIMENTS": ("experiment", "{…}", _declared),
    "PROFILES": ("profile", "{…}", _declared),
    "TABLES": ("table", "{…}", _declared),
    "PRINTED": ("printed", "{…}", _declared),
    "EXECUTORS": ("executor", "make(workers, limits)", _function),
}
"""What a plug-in may define: its kind, its form, and how it is read."""
