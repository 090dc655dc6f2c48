"""Runs in threads, or one after the other: with the same outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event
from typing import TypeVar

T = TypeVar("T")


def each(
    work: Callable[[int, Callable[[], bool]], T | None], n_runs: int, n_threads: int
) -> Iterator[tuple[int, T]]:
    """Do every run and give its number and outcome as it ends.

    ``work`` gets the number of a run and a function that tells whether to stop at once; it returns
    ``None`` if it was stopped.
    """
    if min(n_threads, n_runs) == 1:
        for number in range(n_runs):
            outcome = work(number, _never)
            assert outcome is not None
            yield number, outcome
        return
    stop = Event()
    with ThreadPoolExecutor(min(n_threads, n_runs)) as pool:
        try:
            waiting = {pool.submit(work, number, stop.is_set): number for number in range(n_runs)}
            for done in as_completed(waiting):
                outcome = done.result()
                assert outcome is not None
                yield waiting.pop(done), outcome
        finally:
            # After an error or an interrupt, nobody waits for the other runs to come to an end.
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


def _never() -> bool:
    return False
