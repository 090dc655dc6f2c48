"""Small pieces of text that verbs and displays share."""

import contextlib
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.runs.schema import STATUSES

NO_NEW_ROW = "no new row"
"""Stands on a branch that no raw value takes, though training rows did."""


def say(text: str = "", end: str = "\n") -> None:
    """Print a line; a reader that has gone away ends the talk and not the work."""
    try:
        print(text, end=end, flush=True)
    except (OSError, ValueError):
        silence()


def silence() -> None:
    """Send what is printed from now on nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def duration(seconds: float) -> str:
    """A length of time at a precision people use: ``8.0 s``, ``3 min 20 s``, ``5 h 10 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 100:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours < 72 else f"{hours / 24:.1f} days"


def counts(statuses: Mapping[str, int]) -> str:
    """``18 ok, 2 timeout``: the statuses that occurred, in the usual order."""
    parts = [f"{statuses[status]:,} {status}" for status in STATUSES if statuses.get(status)]
    return ", ".join(parts) or "nothing"


def main_score(run: Mapping[str, Any]) -> str:
    """Its test F1 or R², or the F1 of a search's folds; empty without any."""
    names = {"test_f1": "test F1", "test_r2": "test R²", "valid_f1": "F1"}
    known = [f"{word} {run[n]:.3f}" for n, word in names.items() if run.get(n) is not None]
    return known[0] if known else ""


def outcome(run: Mapping[str, Any]) -> str:
    """How one job ended, in a few words."""
    if run["status"] != "ok":
        return f"{run['status']}: {run.get('reason')}"
    size, seconds = run.get("tree_size"), run.get("wall_seconds")
    parts = [
        main_score(run).removeprefix("test "),
        None if size is None else f"{size} nodes",
        None if seconds is None else duration(seconds),
    ]
    return ", ".join(part for part in parts if part) or "ok"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns of text: the first flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    form = "  ".join(f"{{:{'>' if place else '<'}{width}}}" for place, width in enumerate(widths))
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join(form.format(*line).rstrip() for line in lines)


def program() -> str:
    """``python -m experiments`` as it can be pasted here."""
    name = Path(sys.executable)
    with contextlib.suppress(ValueError):
        name = name.relative_to(Path.cwd())
    return shlex.join([str(name), "-m", "experiments"])


def same_command() -> str:
    """The command that was given, to be pasted again: it goes on where it stopped."""
    script, python = Path(sys.argv[0]), shlex.split(program())
    start = python if script.name == "__main__.py" else [python[0], str(script)]
    return shlex.join([*start, *sys.argv[1:]])
