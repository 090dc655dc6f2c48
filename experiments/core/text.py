"""Small pieces of text that several displays share."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.core.record import STATUSES, RunRecord


def say(text: str) -> None:
    """Print a line; a reader that has gone away ends the talk and not the work."""
    try:
        print(text, flush=True)
    except (OSError, ValueError):
        silence()


def silence_if_gone() -> None:
    """Say no more if nobody can hear it: the pipe is closed, or the terminal."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        silence()


def silence() -> None:
    """Send what is printed from now on nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def speak_plainly() -> None:
    """Let no character end a verb, nor a program that was started without output."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 - until the very end
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def capital(text: str) -> str:
    """With a capital first letter, the rest as it is."""
    return text[:1].upper() + text[1:]


def duration(seconds: float) -> str:
    """A length of time at a precision people use: ``8 s``, ``3 min 20 s``, ``5 h 10 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 100:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 72:
        return f"{hours} h {minutes:02d} min"
    return f"{hours / 24:.1f} days"


def counts(statuses: Mapping[str, int]) -> str:
    """``18 ok, 2 timeout``: the statuses that occurred, in the usual order."""
    parts = [f"{statuses[status]:,} {status}" for status in STATUSES if statuses.get(status)]
    return ", ".join(parts) or "nothing"


def outcome(record: RunRecord) -> str:
    """How one job ended, in a few words."""
    if record.status != "ok":
        return f"{record.status}: {record.reason}"
    score = record.test_f1 if record.test_f1 is not None else record.valid_f1
    parts = [
        None if score is None else f"F1 {score:.3f}",
        None if record.tree_size is None else f"{record.tree_size} nodes",
        None if record.wall_seconds is None else duration(record.wall_seconds),
    ]
    return ", ".join(part for part in parts if part) or "ok"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns of text: the first flush left, the others flush right."""
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]

    def one(line: Sequence[str]) -> str:
        first, *rest = [
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        return "  ".join([first, *rest]).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([one(header), rule, *[one(row) for row in rows]])
