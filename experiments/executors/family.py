"""Find and end every process that came from a worker, however far it fled.

Each worker carries a marker in its environment, which its descendants
inherit even when they change their session or lose their parents.
"""

from __future__ import annotations

import contextlib
import signal
import uuid

import psutil

VARIABLE = "GRADTREE_WORKER"
MARKER_LENGTH = 32


def new_marker() -> str:
    return uuid.uuid4().hex


def members(marker: str) -> set[psutil.Process]:
    """The living processes whose marker starts with ``marker``, and their descendants.

    A process that is just turning into another program has no environment for a moment, but it
    has a parent.
    """
    if len(marker) < MARKER_LENGTH:
        raise ValueError(f"{marker!r} is no marker: it would name processes of others")
    parent_of: dict[psutil.Process, int] = {}
    found = set()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
            parent_of[process] = process.ppid()
            if process.environ().get(VARIABLE, "").startswith(marker):
                found.add(process)
    while children := {
        process
        for process, parent in parent_of.items()
        if process not in found and parent in {member.pid for member in found}
    }:
        found |= children
    return found


def kill_family(marker: str) -> None:
    """End all members. They are stopped first, so that none can fork its way out."""
    stopped: set[psutil.Process] = set()
    while new := members(marker) - stopped:
        for process in new:
            _signal(process, signal.SIGSTOP)
        stopped |= new
    for process in stopped:
        _signal(process, signal.SIGKILL)


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    with contextlib.suppress(psutil.Error):
        process.send_signal(number)
