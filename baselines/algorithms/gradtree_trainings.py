"""Trainings of GradTree that the fits of one split share, where they differ in what follows.

A tree of any size and one of at most 8, 16 or 32 leaves come from the same training, cut back
further and further; so do ST Gumbel-softmax with and without noise at prediction. A process keeps
the trainings of the last split that was fitted; fits that differ in what follows take them from
here and say how many processor seconds that saved them.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from joblib import hash as hash_of

from gradtree import GradTreeClassifier
from gradtree.settings.config import FinishConfig

Outcome = TypeVar("Outcome")


class _Kept:
    """The trainings of a split with their processor seconds, and the fits that had them."""

    def __init__(self, split: Any) -> None:
        self.split = split
        self.done: dict[str, tuple[Any, float]] = {}
        self.fits: set[str] = set()


_kept = _Kept(None)


class Trainings:
    """One fit's access to the trainings of its split; ``saved`` are the seconds it did not need.

    A fit that is done a second time in a process trains anew, so that whoever repeats a fit to
    compare does not compare it with itself.
    """

    def __init__(self, split: Any, params: Mapping[str, Any], seed: int) -> None:
        global _kept
        fit = _spelled(params, seed)
        if _kept.split is not split or fit in _kept.fits:
            _kept = _Kept(split)
        _kept.fits.add(fit)
        self._done = _kept.done
        self.saved = 0.0

    def get(
        self, settings: Mapping[str, Any], which: Any, *rows: Any, **more: Any
    ) -> GradTreeClassifier:
        """An estimator with these settings, fitted on rows that ``which`` tells from others.

        It is shared, too: copy it before you change it.
        """
        name = _spelled(settings, which)
        return self._once(name, lambda: GradTreeClassifier(**settings).fit(*rows, **more))

    def sharing(self) -> type[GradTreeClassifier]:
        """A class whose fits to the same rows share a training, whatever size they cut it to."""
        once = self._once

        class Sharing(GradTreeClassifier):
            def _trained(self, rows: Any, finish: FinishConfig, **told: Any) -> Any:
                kind = replace(finish, max_leaf_nodes=None), finish.changes_structure
                work = partial(super()._trained, rows, finish, **told)
                return once(hash_of((*kind, told)), work)

        return Sharing

    def _once(self, name: str, work: Callable[[], Outcome]) -> Outcome:
        if name in self._done:
            outcome, seconds = self._done[name]
            self.saved += seconds
            return outcome
        start = time.process_time()
        outcome = work()
        self._done[name] = outcome, time.process_time() - start
        return outcome


def _spelled(settings: Mapping[str, Any], which: Any) -> str:
    return repr((sorted(settings.items()), which))
