"""All answers: one per file in ``questions``, in their order."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

from experiments.analysis import questions
from experiments.analysis.answer import Answer
from experiments.analysis.own import own_answer
from experiments.analysis.printed import Printed, printed
from experiments.analysis.runs import Runs


def answers(
    runs: Runs,
    paper: Printed | None = None,
    tables: Mapping[str, Mapping[str, Any]] | None = None,
    papers: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Answer]:
    """What the runs answer; questions of which nothing has been run are left out.

    A question is a module with ``ORDER`` and ``answer(runs, printed)``, which gives an ``Answer``
    or ``None``.

    Parameters
    ----------
    tables, papers : ``TABLES`` and ``PRINTED`` of a plug-in; their answer comes first.
    """
    names = [each.name for each in pkgutil.iter_modules(questions.__path__)]
    modules = [importlib.import_module(f"{questions.__name__}.{name}") for name in names]
    modules = [module for module in modules if hasattr(module, "answer")]
    modules.sort(key=lambda module: (module.ORDER, module.__name__))
    found = [own_answer(runs, tables or {}, papers or {})]
    found += [module.answer(runs, paper or printed()) for module in modules]
    return [each for each in found if each is not None]
