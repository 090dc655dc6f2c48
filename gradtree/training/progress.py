"""A line that shows how far a training is."""

import sys
import time
from typing import NamedTuple, TextIO

BAR_CHARACTERS = 20


class Progress(NamedTuple):
    """Where a training is."""

    run: int
    runs: int
    epoch: int
    epochs: int
    best_epoch: int
    best_loss: float
    train_loss: float
    valid_loss: float


class ProgressBar:
    """Shows a training on a terminal as one line that changes, else as a line per run.

    ``patience``, the epochs without improvement after which a run ends, fills the bar.
    """

    def __init__(self, patience: int, file: TextIO | None = None) -> None:
        self._patience = patience
        self._file = sys.stderr if file is None else file
        self._changes = self._file.isatty()
        self._began = time.monotonic()
        self._last: Progress | None = None
        self._say("GradTree: starting (the first fit on a machine compiles the engine once)")

    def __call__(self, progress: Progress) -> None:
        if self._last is not None and progress.run != self._last.run:
            self._end_run(self._last)
        self._last = progress
        if self._changes:
            self._say(self._line(progress))

    def close(self) -> None:
        if self._last is not None:
            self._end_run(self._last)

    def _end_run(self, progress: Progress) -> None:
        self._say(self._line(progress))
        if self._changes:
            self._file.write("\n")

    def _line(self, progress: Progress) -> str:
        stale = max(progress.epoch - 1 - progress.best_epoch, 0)
        share = max(progress.epoch / progress.epochs, min(stale / self._patience, 1.0))
        filled = round(BAR_CHARACTERS * share)
        bar = "█" * filled + "░" * (BAR_CHARACTERS - filled)
        return (
            f"GradTree: run {progress.run + 1}/{progress.runs} {bar} "
            f"epoch {progress.epoch}, loss {progress.train_loss:.4f}, "
            f"validation {progress.valid_loss:.4f}, best {progress.best_loss:.4f} "
            f"in epoch {progress.best_epoch + 1}, {time.monotonic() - self._began:.1f} s"
        )

    def _say(self, text: str) -> None:
        self._file.write(f"\r\x1b[K{text}" if self._changes else f"{text}\n")
        self._file.flush()
