"""DL8.5, the provably optimal tree of small depth, through ``pydl8.5``."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.binarise import Binariser, paper_binariser
from baselines.estimators.searched import SearchedTreeClassifier
from baselines.estimators.yes_no_tree import Branch, Leaf, Node


class DL85Classifier(SearchedTreeClassifier):
    """The tree with the fewest training errors among all of a depth.

    Parameters
    ----------
    max_depth : int
    min_sup : int
        Fewest training rows in a leaf.
    time_limit : float, optional
        Seconds for the search. The solver watches them itself, in whole
        seconds; nothing in Python can interrupt it. With a limit, depths
        1, 2, … are solved in turn and the best tree is kept, since a search of
        full depth that is cut short may be worse than a finished one of less.
    renumber : bool
        Number the classes that occur in the training rows 0, 1, … for the
        solver. It mislabels leaves when one of the smaller numbers does not
        occur, as happened in the authors' experiments.
    random_state : ignored
        The search has no chance in it.

    Attributes
    ----------
    error_ : int
        Training rows that the tree gets wrong.
    proved_ : bool
        Whether no tree up to that depth has fewer errors; not if time ran out.
    """

    def __init__(
        self,
        max_depth: int = 4,
        min_sup: int = 1,
        time_limit: float | None = None,
        renumber: bool = True,
        random_state: int | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_sup = min_sup
        self.time_limit = time_limit
        self.renumber = renumber
        self.random_state = random_state

    def _binariser(self, X: NDArray[np.float64]) -> Binariser:
        return paper_binariser(X)

    def _search(self, columns: NDArray[np.bool_], labels: NDArray[np.intp]) -> Node:
        names = np.unique(labels) if self.renumber else np.arange(len(self.classes_))
        labels = np.searchsorted(names, labels)
        if self.time_limit is None:
            best = self._solve(columns, labels, self.max_depth, whole_seconds=0)
            self.proved_ = True
        else:
            best = self._solve_in_turn(columns, labels, self.time_limit)
        if best is None:
            raise TimeoutError(
                f"DL8.5 found no tree within {self.time_limit} s; raise time_limit, "
                "which counts in whole seconds, or leave it out"
            )
        self.error_ = int(best.error_)
        return _node(best.tree_, names)

    def _solve_in_turn(
        self, columns: NDArray[np.bool_], labels: NDArray[np.intp], seconds: float
    ) -> Any | None:
        """The best solver of depths 1, 2, …; of equally good ones the shallowest."""
        deadline = time.monotonic() + seconds
        best, self.proved_ = None, False
        for depth in range(1, self.max_depth + 1):
            left = int(deadline - time.monotonic())
            if left < 1 or self.proved_:
                break
            solver = self._solve(columns, labels, depth, left)
            if solver is None:
                continue
            if best is None or solver.error_ < best.error_:
                best = solver
            ended = depth == self.max_depth and not solver.timeout_
            self.proved_ = bool(ended or best.error_ == 0)
        return best

    def _solve(
        self, columns: NDArray[np.bool_], labels: NDArray[np.intp], depth: int, whole_seconds: int
    ) -> Any | None:
        """A fitted solver, or ``None`` if it found no tree; 0 seconds mean no limit."""
        from pydl85 import DL85Classifier as Solver

        solver = Solver(max_depth=depth, min_sup=self.min_sup, time_limit=whole_seconds)
        with contextlib.redirect_stdout(io.StringIO()):
            solver.fit(columns.astype(np.int32), labels)
        return None if solver.tree_ is None else solver


def _node(found: Mapping[str, Any], names: NDArray[np.intp]) -> Node:
    """The solver's nested dictionaries; its left is where the column says yes."""
    if "feat" in found:
        yes, no = _node(found["left"], names), _node(found["right"], names)
        return Branch(int(found["feat"]), yes, no)
    return Leaf(int(names[int(found["value"])]))
