"""What a value may be before it is believed, stored or shown, and mistakes that people make,
told in a line or two instead of a traceback.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Literal

LARGEST = 10**12
"""No count, size or duration of the suite comes near it; sums and means of such stay finite."""
LONGEST_NAME = 200
DEEPEST = 6
"""Levels of nesting of parameters and remarks."""

_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]{0,80}")
_UNFIT = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]"
)
"""Control characters but tabs and line ends, marks that turn text around, lone surrogates."""


def is_slug(value: Any) -> bool:
    """Whether a name can be part of a path and cannot leave its folder."""
    return isinstance(value, str) and _SLUG.fullmatch(value) is not None and ".." not in value


def is_line_of_text(value: Any) -> bool:
    """Whether a value is a short text without line ends, control characters or surrogates."""
    return isinstance(value, str) and len(value) <= LONGEST_NAME and value.isprintable()


def is_number(value: Any) -> bool:
    """Whether a value is finite, and small enough to be summed up."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return -LARGEST <= value <= LARGEST  # a NaN is not


def is_amount(value: Any) -> bool:
    return is_number(value) and value >= 0


def is_share(value: Any) -> bool:
    return is_number(value) and 0 <= value <= 1


def is_whole(value: Any, least: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= LARGEST


def is_list_of_wholes(value: Any, least: int = 0) -> bool:
    return isinstance(value, list) and all(is_whole(part, least) for part in value)


def is_plain(value: Any, deepest: int = DEEPEST) -> bool:
    """Whether a value is made of texts, finite numbers, lists and mappings, not too deeply."""
    if isinstance(value, dict):
        return deepest > 0 and all(
            is_line_of_text(name) and is_plain(part, deepest - 1) for name, part in value.items()
        )
    if isinstance(value, list):
        return deepest > 0 and all(is_plain(part, deepest - 1) for part in value)
    return value is None or isinstance(value, bool) or is_line_of_text(value) or is_number(value)


def is_plain_mapping(value: Any) -> bool:
    return isinstance(value, dict) and is_plain(value)


def are_params(value: Any) -> bool:
    """Whether parameters are plain; most records share theirs, so that one look is enough."""
    try:
        return isinstance(value, dict) and _are_plain_pairs(tuple(value.items()))
    except TypeError:  # a list among them
        return is_plain_mapping(value)


@cache
def _are_plain_pairs(pairs: tuple[tuple[str, Any], ...]) -> bool:
    return is_plain_mapping(dict(pairs))


def clean_text(text: str, longest: int, keep: Literal["start", "end"] = "end") -> str:
    """Text that a store, a terminal and a page can take, shortened to its start or its end."""
    if len(text) > longest:
        text = f"{text[: longest - 1]}…" if keep == "start" else f"…{text[1 - longest :]}"
    return _UNFIT.sub("?", text)


def shown(value: Any) -> str:
    """A value for people, shortened; nothing that could harm a terminal."""
    try:
        text = ascii(value)
    except (RecursionError, ValueError):  # too deep, or a number too long to be written
        text = f"a {type(value).__name__}"
    return text if len(text) <= 40 else f"{text[:40]}…"


EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_INCOMPLETE, EXIT_NOTHING = 0, 1, 2, 3, 4
"""Exit statuses of every verb: done, something failed, a mistake, work is left, nothing to do."""


class UserError(Exception):
    """What is wrong and what to do about it; ends a verb with ``status``."""

    status = EXIT_USAGE


class CannotGoOnError(UserError):
    """The work stops here, nothing is lost, and the same command will go on later."""

    status = EXIT_INCOMPLETE


class NothingToDoError(UserError):
    """The call is well formed, and what it selects is empty."""

    status = EXIT_NOTHING
