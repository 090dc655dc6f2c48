"""Find and end every process that came from a worker, however far it fled.

Each worker carries a marker in its environment, which its descendants
inherit even when they change their session or lose their parents. Run as a
program, this module is the janitor: it waits for the end of its input, which
comes when the supervisor is gone for whatever reason, and then ends every
process that carries the marker.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import uuid

import psutil

from experiments.runner.executors.launch import python_environment

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


def kill_members(marker: str) -> None:
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


FAREWELL = b"."
"""Sent by a supervisor that has cleaned up itself."""


def hire(marker: str) -> subprocess.Popen[bytes]:
    """Start a janitor for the workers of a marker; it lives as long as its input is open."""
    return subprocess.Popen(
        [sys.executable, "-m", "experiments.runner.executors.cleanup", marker],
        stdin=subprocess.PIPE,
        env=python_environment(),
        start_new_session=True,
    )


def dismiss(janitor: subprocess.Popen[bytes]) -> None:
    """Let a janitor go, there being nothing left to clean."""
    if janitor.poll() is None:
        janitor.communicate(FAREWELL)
    janitor.wait()


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.stdin.buffer.read() != FAREWELL:
        kill_members(sys.argv[1])


if __name__ == "__main__":
    main()
