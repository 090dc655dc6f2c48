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

Offers = Iterator[tuple[str, Any]]


@dataclass(frozen=True)
class PluginProtocol:
    """A protocol of a plug-in; its version changes with the source of its function."""

    version: str
    summary: str
    base: str
    split: Callable[[Any, int], Split]
    folds_anew: bool = False


class _Mistake(Exception):  # noqa: N818 - becomes a UserError that knows file and line
    """What is wrong in a plug-in; ``near`` is a text in the line at fault."""

    def __init__(self, text: str, near: object = "") -> None:
        super().__init__(text)
        self.near = str(near)


@dataclass(frozen=True)
class Plugin:
    """An imported plug-in file."""

    path: Path
    module: ModuleType
    tree: ast.Module

    @property
    def digest(self) -> str:
        """Hash of the code that can change a learner: no comments, tables, datasets or metrics."""
        others = {name for name, (kind, _) in READERS.items() if kind != "learner"}
        body = [node for node in self.tree.body if not others & set(_targets(node))]
        return hashlib.sha256("".join(map(ast.dump, body)).encode()).hexdigest()[:16]

    def line(self, name: str, *near: str) -> int:
        """The first line with one of the texts ``near``, or else where ``name`` is defined."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Constant) and node.value in near and node.value != "":
                return node.lineno
        return next((node.lineno for node in self.tree.body if name in _targets(node)), 1)

    def place(self, name: str, *near: str) -> str:
        """File and line, as a mistake tells them."""
        return f"{self.path}, line {self.line(name, *near)}"

    def offers(self, kind: str) -> Offers:
        """What the file defines of a kind, checked; a mistake names file and line."""
        for name, (of, read) in READERS.items():
            if of != kind or not hasattr(self.module, name):
                continue
            try:
                for slug, entry in read(name, getattr(self.module, name), self):
                    if not (isinstance(slug, str) and SLUG.fullmatch(slug)):
                        form = "Write lower-case letters, digits and hyphens."
                        raise _Mistake(f"{slug!r:.80} cannot be a {kind}'s name\n{form}", slug)
                    yield slug, entry
            except _Mistake as mistake:
                raise UserError(f"{self.place(name, mistake.near)}: {mistake}") from None


def _targets(node: ast.stmt) -> list[str]:
    """The names that a statement assigns."""
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


# What a plug-in may define


def _items(name: str, offered: Any, form: str) -> list[tuple[Any, Any]]:
    if not isinstance(offered, Mapping):
        raise _Mistake(f"{name} is a {type(offered).__name__}\nWrite {name} = {{name: {form}}}.")
    return list(offered.items())


def _read_learners(name: str, offered: Any, plugin: Plugin) -> Offers:
    from baselines.contract import Learner

    many = name == "LEARNERS" and isinstance(offered, list | tuple)
    for each in offered if many else [offered]:
        if not isinstance(each, Learner):
            kind = each.__name__ if isinstance(each, type) else type(each).__name__
            raise _Mistake(f"{name} has a {kind}\nWrite baselines.Learner(slug, name, version, …).")
        try:
            _check_learner(each)
        except ValueError as problem:
            raise _Mistake(f"learner {each.slug!r:.80}: {problem}", each.slug) from None
        yield each.slug, each


def _check_learner(learner: Learner) -> None:
    """What would end a run, or spoil it without a word, is told before it begins."""
    # slugs of all kinds are checked in one place
    check_fields("learner", type(learner), {**vars(learner), "slug": "any"})
    if "," in learner.name or not learner.name.isprintable():
        raise ValueError(f"name is {learner.name!r}\nWrite a text without commas and line breaks.")
    if not all(learner.space.values()):
        raise ValueError(f"space is {learner.space!r:.80}\nWrite a value or more in every list.")
    for task in learner.tasks:
        try:
            made = learner.defaults(task)
        except Exception as problem:
            told = f"{type(problem).__name__}: {problem}"
            raise ValueError(f"defaults({task!r}) fails\n{told}") from None
        check_value(f"defaults({task!r})", made, dict[str, Any])


def _read_datasets(name: str, offered: Any, plugin: Plugin) -> Offers:
    import datasets

    form = "(pandas table, target column)"
    for title, pair in _items(name, offered, form):
        if not (isinstance(title, str) and isinstance(pair, tuple) and len(pair) == 2):
            raise _Mistake(f"{title!r} has a {type(pair).__name__}\nWrite {{name: {form}}}.", title)
        slug = "-".join(re.findall("[a-z0-9]+", title.lower()))
        try:
            yield slug, datasets.from_table(slug, title, *pair)
        except ValueError as problem:
            raise _Mistake(f"the table {title!r} is no dataset\n{problem}", title) from None


def _read_functions(name: str, offered: Any, plugin: Plugin) -> Offers:
    """Metrics, protocols and executors."""
    form = {
        "METRICS": 'f(y, p), or (f, "low") where less is better',
        "PROTOCOLS": "split(dataset, trial)",
        "EXECUTORS": "make(workers, limits)",
    }[name]
    for slug, given in _items(name, offered, form):
        pair = name == "METRICS" and isinstance(given, tuple) and len(given) == 2
        better: Any
        function, better = given if pair else (given, "high")
        if [*misfits(function, Callable[[Any, Any], Any])] or better not in ("high", "low"):
            told = f"{slug!r} of {name} is {given!r:.60}, no function of two arguments"
            raise _Mistake(f"{told}\nWrite {form}.", slug)
        if name == "METRICS":
            shown = {"better": better, "in_tables": slug.replace("_", " "), "score": function}
            yield slug, Column(slug, float, "score", f"of {plugin.path.name}", **shown)
        elif name == "EXECUTORS":
            yield slug, function
        else:
            try:
                source = inspect.getsource(function)
            except (OSError, TypeError):
                source = plugin.digest
            version = hashlib.sha256(source.encode()).hexdigest()[:12]
            about = (inspect.getdoc(function) or f"from {plugin.path.name}").splitlines()[0]
            yield slug, PluginProtocol(version, about, slug, function)


def _read_declared(name: str, offered: Any, plugin: Plugin) -> Offers:
    """Declarations with the keys of the suite's own files; a path under ``csv`` is one from the
    plug-in's folder.
    """
    from experiments.runner.experiments import experiment_from, profile_from

    make = {"EXPERIMENTS": experiment_from, "PROFILES": profile_from}.get(name)
    for slug, declared in _items(name, offered, "{…}"):
        if not isinstance(declared, Mapping):
            raise _Mistake(f"{slug!r} of {name} is a {type(declared).__name__}, no {{…}}", slug)
        given = dict(declared)
        if isinstance(given.get("csv"), str | Path):
            given["csv"] = plugin.path.parent / given["csv"]
        if not make:  # the analysis makes tables, and tells of mistakes where they stand
            given["where"] = plugin.place(name, slug)
        try:
            yield slug, make(slug, given) if make else given
        except ValueError as problem:
            raise _Mistake(f"{slug!r} of {name}: {problem}", slug) from None


READERS: dict[str, tuple[str, Callable[[str, Any, Plugin], Offers]]] = {
    "LEARNER": ("learner", _read_learners),
    "LEARNERS": ("learner", _read_learners),
    "DATASETS": ("dataset", _read_datasets),
    "PROTOCOLS": ("protocol", _read_functions),
    "METRICS": ("metric", _read_functions),
    "EXPERIMENTS": ("experiment", _read_declared),
    "PROFILES": ("profile", _read_declared),
    "TABLES": ("table", _read_declared),
    "PRINTED": ("printed", _read_declared),
    "EXECUTORS": ("executor", _read_functions),
}
"""What a plug-in may define: the kind of what it offers, and how that is read."""
