"""Mistakes that people make, told in a line or two; exit statuses of every verb."""

import difflib
import inspect
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

DONE, FAILED, MISTAKE, WORK_LEFT, NOTHING_TO_DO = 0, 1, 2, 3, 4
"""Exit statuses: done, something failed, a mistake, work is left, nothing to do."""


class UserError(Exception):
    """What is wrong and what to do about it; ends a verb with ``status``."""

    status = MISTAKE


class CannotGoOnError(UserError):
    """The work stops here, nothing is lost, and the same command will go on later."""

    status = WORK_LEFT


class NothingToDoError(UserError):
    """The call is well formed, and what it selects is empty."""

    status = NOTHING_TO_DO


def did_you_mean(name: str, known: Collection[str]) -> str:
    """The nearest of the known names as a question, or all of them."""
    near = difflib.get_close_matches(name.lower(), known, n=2)
    return f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}"


def check_names(
    what: str, wanted: Iterable[str] | None, known: Iterable[str], where: str = ""
) -> None:
    """Refuse a name that is not among those known, so that a typo never selects nothing."""
    known = list(dict.fromkeys(known))
    for name in wanted or ():
        if name not in known:
            raise UserError(f"{where}unknown {what} {name!r}; {did_you_mean(name, known)}")


# What people declare, held against the types of a dataclass


def check_fields(what: str, kind: type, given: object) -> None:
    """Refuse what a dataclass cannot be made of: ``ValueError`` with what to write instead."""
    if not isinstance(given, Mapping):
        raise ValueError(f"a {what} is a {type(given).__name__}, not {{key: value}}")
    hints = get_type_hints(kind)
    for name, value in given.items():
        if name not in hints:
            raise ValueError(f"unknown key {name!r}; {did_you_mean(str(name), hints)}")
        check_value(name, value, hints[name])
    for field in fields(kind):
        if field.default is field.default_factory is MISSING and given.get(field.name, "") == "":
            raise ValueError(f"a {what} lacks its {field.name}")


def check_value(name: str, value: Any, hint: Any) -> None:
    """``ValueError`` for a value that is not of a type, with the part of it that is not."""
    for wrong in misfits(value, hint):
        kind = f"{type(wrong).__module__}.{type(wrong).__name__}".removeprefix("builtins.")
        wanted = re.sub(r"(\w+\.)+", "", inspect.formatannotation(hint))
        raise ValueError(f"{name} is {value!r:.80}\nWrite {wanted}, no {kind}.")


def misfits(value: Any, hint: Any) -> Iterator[Any]:
    """Parts that are not of a type; a list may stand for a tuple, ``Any`` is what JSON can hold."""
    if hint is Any and isinstance(value, dict | list | tuple):
        hint = dict[str, Any] if isinstance(value, dict) else list[Any]
    origin, inner = get_origin(hint), [each for each in get_args(hint) if each is not ...]
    if origin in (Union, UnionType):
        good = any(not [*misfits(value, each)] for each in inner)
    elif origin is Literal:
        good = value in inner
    elif origin is Callable:
        good = callable(value) and _takes(value, len(inner[0]))
    elif hint is Any:
        finite = not isinstance(value, float) or math.isfinite(value)
        good = finite and isinstance(value, str | int | float | None)
    elif origin is None:
        good = isinstance(value, int | float if hint is float else hint)
    elif good := isinstance(value, Mapping if origin in (dict, Mapping) else list | tuple):
        parts = zip(*value.items(), strict=True) if isinstance(value, Mapping) else [value]
        for some, each in zip(parts, inner, strict=False):
            for part in some:
                yield from misfits(part, each)
    if not good:
        yield value


def _takes(function: Callable[..., Any], count: int) -> bool:
    """Whether a function can be called with so many arguments; a built-in one may not tell."""
    try:
        inspect.signature(function).bind(*range(count))
    except (TypeError, ValueError) as problem:
        return isinstance(problem, ValueError)
    return True
