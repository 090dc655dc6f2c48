"""Cleans up after a supervisor that died without a chance to do so itself.

Waits for the end of its input, which comes when the supervisor is gone for
whatever reason, and then ends every process that carries the marker.
"""

from __future__ import annotations

import signal
import subprocess
import sys

from experiments.executors.family import kill_family
from experiments.executors.launch import python_environment

FAREWELL = b"."
"""Sent by a supervisor that has cleaned up itself."""


def hire(marker: str) -> subprocess.Popen[bytes]:
    """Start a janitor for the workers of a marker; it lives as long as its input is open."""
    return subprocess.Popen(
        [sys.executable, "-m", "experiments.executors.janitor", marker],
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
        kill_family(sys.argv[1])


if __name__ == "__main__":
    main()
