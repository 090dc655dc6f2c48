"""One plug-in: a Python file with learners, datasets, metrics and more, imported and checked.

The file may define

    LEARNER or LEARNERS   one or several ``baselines.Learner``
    DATASETS              {name: (pandas table, target column)}, or a list of ``PluginDataset``
    PROTOCOLS             {name: split(dataset, trial) -> datasets.Split}
    METRICS               {name: f(y, p)}, or (f, "low") where less is better
    EXPERIMENTS, PROFILES, TABLES
                          {name: {...}} with the keys of experiments.toml, profiles.toml, grids.toml
    PRINTED               {name: {...}}: printed tables of another paper
    EXECUTORS             {name: make(workers, limits)}

Every mistake in it is a ``UserError`` of two lines that name file and line.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from experiments.errors import UserError
from experiments.runs.job import canonical_json
from experiments.runs.schema import SLUG

if TYPE_CHECKING:
    from baselines.contract import Learner
    from datasets.dataset import Dataset
    from datasets.split import Split, Task

NAMES = {
    "LEARNER": "learner",
    "LEARNERS": "learner",
    "DATASETS": "dataset",
    "PROTOCOLS": "protocol",
    "METRICS": "metric",
    "EXPERIMENTS": "experiment",
    "PROFILES": "profile",
    "TABLES": "table",
    "PRINTED": "printed",
    "EXECUTORS": "executor",
}
"""What a plug-in may define, and the kind of what it then offers."""
Offers = Iterator[tuple[str, Any]]


@dataclass(frozen=True)
class PluginDataset:
    """A dataset of a plug-in: its facts, and how a trial of a protocol is made of it."""

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
    missing: str = "none"
    in_paper: bool = False


@dataclass(frozen=True)
class PluginProtocol:
    """A protocol of a plug-in; its version changes with the source of its function."""

    name: str
    version: str
    summary: str
    base: str
    split: Callable[[Any, int], Split]
    folds_anew: bool = False


@dataclass(frozen=True)
class Metric:
    """A score of the test rows: a column of the runs, or a plug-in's function of y and p."""

    name: str
    better: str
    """``high`` or ``low``."""
    function: Callable[[Any, Any], float] | None = None


class _Mistake(Exception):  # noqa: N818 - becomes a UserError that knows file and line
    """What is wrong in a plug-in; ``near`` is a text in the line at fault."""

    def __init__(self, text: str, near: str = "") -> None:
        super().__init__(text)
        self.near = near


@dataclass(frozen=True)
class Plugin:
    """An imported plug-in file."""

    path: Path
    module: ModuleType
    tree: ast.Module

    @property
    def digest(self) -> str:
        """Hash of the code that can change a learner: no comments, tables, datasets or metrics."""
        others = {name for name, kind in NAMES.items() if kind != "learner"}
        body = [node for node in self.tree.body if not others & set(_targets(node))]
        return hashlib.sha256("".join(map(ast.dump, body)).encode()).hexdigest()[:16]

    def line(self, name: str, *near: str) -> int:
        """The first line with one of the texts ``near``, or else where ``name`` is defined."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Constant) and node.value in near and node.value != "":
                return node.lineno
        return next((node.lineno for node in self.tree.body if name in _targets(node)), 1)

    def offers(self, kind: str) -> Offers:
        """What the file defines of a kind, checked; a mistake names file and line."""
        for name in (name for name, of in NAMES.items() if of == kind):
            if not hasattr(self.module, name):
                continue
            offered = getattr(self.module, name)
            try:
                for slug, entry in _READERS[kind](name, offered, self):
                    if not (isinstance(slug, str) and SLUG.fullmatch(slug)):
                        raise _Mistake(
                            f"{slug!r} cannot be the name of a {kind}\n"
                            "Write lower-case letters, digits and hyphens.",
                            slug if isinstance(slug, str) else "",
                        )
                    yield slug, entry
            except _Mistake as mistake:
                line = self.line(name, mistake.near)
                raise UserError(f"{self.path}, line {line}: {mistake}") from None


def _targets(node: ast.stmt) -> list[str]:
    """The names that a statement assigns."""
    if isinstance(node, ast.AnnAssign):
        return [node.target.id] if isinstance(node.target, ast.Name) else []
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


@cache
def imported(path: Path) -> Plugin:
    """Import a file under a name of its own, so that it hides no other module."""
    if not path.is_file() or path.suffix != ".py":
        raise UserError(
            f"no plug-in {path}: --plugin takes the path of a Python file, such as mine.py"
        )
    name = f"plugin_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    try:
        tree = ast.parse(path.read_bytes(), str(path))
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        if str(path.parent) not in sys.path:
            sys.path.append(str(path.parent))  # last: helpers beside it hide nothing
        spec.loader.exec_module(module)
    except SyntaxError as problem:
        where = f"{problem.filename}, line {problem.lineno}"
        raise UserError(f"{where}: {problem.msg}\n  {(problem.text or '').strip()}") from None
    except (Exception, SystemExit) as problem:
        frames = [
            f.lineno for f in traceback.extract_tb(problem.__traceback__) if f.filename == str(path)
        ]
        told = " ".join(f"{type(problem).__name__}: {problem}".split())
        raise UserError(
            f"{path}, line {frames[-1] if frames else 1}: {told:.300}\n"
            "The plug-in could not be imported."
        ) from None
    plugin = Plugin(path, module, tree)
    defined = [name for node in tree.body for name in _targets(node) if name.isupper()]
    for name in defined:
        near = difflib.get_close_matches(name, NAMES, 1, cutoff=0.8)
        if near and name not in NAMES and near[0] not in defined:
            raise UserError(
                f"{path}, line {plugin.line(name)}: {name} means nothing here\n"
                f"Did you mean {near[0]}?"
            )
    if not any(hasattr(module, name) for name in NAMES):
        raise UserError(f"{path}, line 1: nothing is offered\nDefine one of {', '.join(NAMES)}.")
    return plugin


# What a plug-in may define


def _items(name: str, offered: Any, of: str) -> list[tuple[Any, Any]]:
    if not isinstance(offered, Mapping):
        raise _Mistake(f"{name} is a {type(offered).__name__}\nWrite {name} = {{name: {of}}}.")
    return list(offered.items())


def _read_learners(name: str, offered: Any, plugin: Plugin) -> Offers:
    from baselines.contract import Learner

    many = name == "LEARNERS" and isinstance(offered, list | tuple)
    for each in offered if many else [offered]:
        if not isinstance(each, Learner):
            kind = each.__name__ if isinstance(each, type) else type(each).__name__
            raise _Mistake(f"{name} has a {kind}\nWrite baselines.Learner(slug, name, version, …).")
        _check_learner(each)
        yield each.slug, each


def _check_learner(learner: Learner) -> None:
    """What would end a run, or spoil it without a word, is told before it begins."""
    slug = learner.slug if isinstance(learner.slug, str) else ""

    def require(holds: bool, text: str) -> None:
        if not holds:
            raise _Mistake(f"learner {learner.slug!r}: {text}", slug)

    for field in ("name", "version"):
        value = getattr(learner, field)
        told = f"{field} is {value!r}\nWrite a text, such as {str(value or 1)!r}."
        require(isinstance(value, str) and value.strip() != "", told)
    for field in ("defaults", "fit", "skip", "simplify"):
        told = f"{field} is a {type(getattr(learner, field)).__name__}\nWrite a function."
        require(callable(getattr(learner, field)), told)
    needs = f"needs is {learner.needs!r}\nWrite a tuple of modules, such as ('xgboost',)."
    require(isinstance(learner.needs, tuple | list), needs)
    require(isinstance(learner.space, Mapping), "space is no mapping of names to lists of values")
    checked = [("space", learner.space)]
    for task in ("binary", "multi"):
        try:
            checked.append(("defaults", learner.defaults(task)))
        except Exception as problem:
            told = f"defaults({task!r}) fails\n{type(problem).__name__}: {problem}"
            raise _Mistake(f"learner {slug!r}: {told}", slug) from None
    for where, params in checked:
        require(isinstance(params, Mapping), f"{where} gives a {type(params).__name__}, no mapping")
        for key, value in params.items():
            values = value if where == "space" else [value]
            listed = isinstance(values, list | tuple) and len(values) > 0
            require(listed, f"space[{key!r}] is {values!r}\nWrite a list of values.")
            for one in values:
                try:
                    canonical_json({key: one})
                except (TypeError, ValueError):
                    told = f"{type(one).__module__}.{type(one).__name__}"
                    require(
                        False,
                        f"{key} of {where} is a {told}\n"
                        "Write a plain number, text, list or None: int(…), float(…).",
                    )


def _read_datasets(name: str, offered: Any, plugin: Plugin) -> Offers:
    if isinstance(offered, list | tuple) and all(isinstance(d, PluginDataset) for d in offered):
        yield from ((each.slug, each) for each in offered)
        return
    form = f"Write {name} = {{name: (pandas table, target column)}}."
    if not isinstance(offered, Mapping):
        raise _Mistake(f"{name} is a {type(offered).__name__}\n{form}")
    for title, pair in offered.items():
        if not (isinstance(title, str) and isinstance(pair, tuple) and len(pair) == 2):
            raise _Mistake(f"{title!r} has a {type(pair).__name__}\n{form}", str(title))
        yield from _dataset_of(title, *pair)


def _dataset_of(name: str, table: Any, target: Any) -> Offers:
    """A dataset from a pandas table and the name of its target column."""
    import datasets

    slug = "-".join(re.findall("[a-z0-9]+", name.lower()))
    try:
        made = datasets.from_table(slug, name, table, target)
    except ValueError as problem:
        raise _Mistake(f"the table {name!r} is no dataset\n{problem}", name) from None
    facts = {
        key: getattr(made.record, key)
        for key in ("slug", "name", "task", "n_features", "n_rows", "content_hash", "missing")
    }
    yield (
        slug,
        PluginDataset(
            **facts,
            class_counts=tuple(made.record.class_counts),
            categorical=tuple(made.record.categorical),
            split=partial(_split_table, made),
            table=made,
        ),
    )


def _split_table(table: Dataset, protocol: str, trial: int) -> Split:
    import datasets

    return datasets.make_split(table, protocol, trial)


def _read_protocols(name: str, offered: Any, plugin: Plugin) -> Offers:
    for slug, function in _items(name, offered, "split(dataset, trial)"):
        if not callable(function):
            raise _Mistake(f"protocol {slug!r} is a {type(function).__name__}, no function", slug)
        try:
            source = inspect.getsource(function)
        except (OSError, TypeError):
            source = plugin.digest
        version = hashlib.sha256(source.encode()).hexdigest()[:12]
        about = (inspect.getdoc(function) or f"from {plugin.path.name}").splitlines()[0]
        yield slug, PluginProtocol(slug, version, about, slug, function)


def _read_metrics(name: str, offered: Any, plugin: Plugin) -> Offers:
    for slug, given in _items(name, offered, "f(y, p)"):
        function, better = (
            given if isinstance(given, tuple) and len(given) == 2 else (given, "high")
        )
        if not callable(function) or better not in ("high", "low"):
            form = 'Write f(y, p), or (f, "low") where less is better.'
            raise _Mistake(f"metric {slug!r} is {given!r:.60}\n{form}", str(slug))
        yield slug, Metric(slug, better, function)


def _read_mappings(name: str, offered: Any, plugin: Plugin) -> Offers:
    """Declarations; a relative path under ``csv`` is one from the plug-in's folder."""
    for slug, declared in _items(name, offered, "{…}"):
        if not isinstance(declared, Mapping):
            raise _Mistake(f"{slug!r} of {name} is a {type(declared).__name__}, no {{…}}", slug)
        given = dict(declared)
        if isinstance(given.get("csv"), str | Path):
            given["csv"] = plugin.path.parent / given["csv"]
        yield slug, given


def _read_declared(name: str, offered: Any, plugin: Plugin) -> Offers:
    """Experiments and profiles, with the keys of the suite's own files."""
    from experiments.runner.experiments import experiment_from
    from experiments.runner.profiles import profile_from

    make = experiment_from if name == "EXPERIMENTS" else profile_from
    for slug, declared in _read_mappings(name, offered, plugin):
        try:
            yield slug, make(slug, declared)
        except ValueError as problem:
            raise _Mistake(f"{name[:-1].lower()} {slug!r}: {problem}", slug) from None


def _read_executors(name: str, offered: Any, plugin: Plugin) -> Offers:
    for slug, make in _items(name, offered, "make(workers, limits)"):
        if not callable(make):
            raise _Mistake(f"executor {slug!r} is a {type(make).__name__}, no function", slug)
        yield slug, make


_READERS: dict[str, Callable[[str, Any, Plugin], Offers]] = {
    "learner": _read_learners,
    "dataset": _read_datasets,
    "protocol": _read_protocols,
    "metric": _read_metrics,
    "experiment": _read_declared,
    "profile": _read_declared,
    "table": _read_mappings,
    "printed": _read_mappings,
    "executor": _read_executors,
}
