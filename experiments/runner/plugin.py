"""One plug-in: a Python file with learners, datasets, metrics and more, imported and checked.

The file may define

    LEARNER or LEARNERS   one or several ``baselines.Learner``
    DATASETS              {name: (pandas table, target column)}
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
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from experiments.errors import UserError, check_fields, check_value, misfits
from experiments.runs.schema import SLUG, Column

if TYPE_CHECKING:
    from baselines.contract import Learner
    from datasets.split import Split


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
        lines = [
            node.lineno
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Constant) and node.value in near and node.value != ""
        ]
        lines += [node.lineno for node in self.tree.body if name in _targets(node)]
        return f"{self.path}, line {[*lines, 1][0]}"

    def offers(self, kind: str) -> Iterator[tuple[str, Any]]:
        """What the file defines of a kind, checked; a mistake names file and line."""
        for name, (of, form, read) in READERS.items():
            if of != kind or not hasattr(self.module, name):
                continue
            offered = getattr(self.module, name)
            if kind == "learner":
                many = name == "LEARNERS" and isinstance(offered, list | tuple)
                items = [
                    (getattr(one, "slug", ""), one) for one in (offered if many else [offered])
                ]
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
        raise UserError(
            f"no plug-in {path}: --plugin takes the path of a Python file, such as mine.py"
        )
    name = f"plugin_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    try:
        tree = ast.parse(path.read_bytes(), str(path))
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        if str(path.parent) not in sys.path:
            sys.path.append(str(path.parent))  # last: helpers beside it hide nothing
        spec.loader.exec_module(module)
    except SyntaxError as problem:
        where = f"{problem.filename or path}, line {problem.lineno or 1}"
        raise UserError(f"{where}: {problem.msg}\n  {(problem.text or '').strip()}") from None
    except (Exception, SystemExit) as problem:
        frames = traceback.extract_tb(problem.__traceback__)
        line = next((f.lineno for f in reversed(frames) if f.filename == str(path)), 1)
        told = " ".join(f"{type(problem).__name__}: {problem}".split())
        raise UserError(
            f"{path}, line {line}: {told:.300}\nThe plug-in could not be imported."
        ) from None
    plugin = Plugin(path, module, tree)
    defined = [name for node in tree.body for name in _targets(node) if name.isupper()]
    for name in defined:
        near = difflib.get_close_matches(name, READERS, 1, cutoff=0.8)
        if near and name not in READERS and near[0] not in defined:
            told = f"{name} means nothing here\nDid you mean {near[0]}?"
            raise UserError(f"{plugin.place(name)}: {told}")
    if not any(hasattr(module, name) for name in READERS):
        raise UserError(f"{path}, line 1: nothing is offered\nDefine one of {', '.join(READERS)}.")
    return plugin


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
