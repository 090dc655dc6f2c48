"""Mistakes that people make, told in a line or two; exit statuses of every verb."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

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
