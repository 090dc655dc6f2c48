"""Mistakes that people make, told in a line or two instead of a traceback."""

from __future__ import annotations

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
