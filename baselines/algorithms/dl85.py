"""DL8.5, the provably optimal tree of small depth, by our kernels or by a library."""

import numbers
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.binarise import Binariser, paper_binariser
from baselines.algorithms.branch_and_bound.solver import Solved, compile_kernels
from baselines.algorithms.searched import Found, Labels, Matrix, SearchedTreeClassifier
from baselines.algorithms.solvers import DL85_SOLVERS
from baselines.algorithms.yes_no_tree import relabelled


@dataclass(eq=False, repr=False)
class DL85Classifier(SearchedTreeClassifier):
    """DL8.5: the tree with the fewest training errors among all of a depth, or nearly so.

    The search is that of ``pydl8.5``, which passes over some trees whose leaves are as small as
    ``min_sup`` allows (see ``baselines.algorithms.branch_and_bound``). ``error_`` are the training
    rows that the tree gets wrong, as the solver counts them.
    """

    max_depth: int = 4
    min_sup: int = 1  # fewest training rows in a leaf
    # Seconds for the search. With a limit, depths 1, 2, … are solved in turn and the best tree is
    # kept, since a search of full depth that is cut short may be worse than a finished one of less.
    time_limit: float | None = None
    # "compiled" and "pydl8.5" find the same tree, "pytrees-rs" and "streed" one with as few errors
    # or fewer. pydl8.5 is many times slower than ours, counts ``time_limit`` in whole seconds, and
    # nothing in Python can interrupt it.
    solver: str = "compiled"
    # Number the classes that occur in the training rows 0, 1, … for the solver. It mislabels leaves
    # when one of the smaller numbers does not occur, as happened in the authors' experiments.
    renumber: bool = True
    random_state: int | None = None  # ignored: the search has no chance in it

    def _find(self, X: Matrix, labels: Labels, X_bins: Matrix, ranked: Binariser | None) -> Found:
        if self.solver not in DL85_SOLVERS:
            raise ValueError(f"solver must be one of {sorted(DL85_SOLVERS)}, not {self.solver!r}")
        for name in ("max_depth", "min_sup"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, not {value!r}")
        binariser = paper_binariser(X_bins)
        columns = binariser.transform(X)
        names = np.unique(labels) if self.renumber else np.arange(len(self.classes_))
        labels = np.searchsorted(names, labels)
        if self.time_limit is None:
            best = self._solve(columns, labels, self.max_depth, None)
            self.proved_ = True
        else:
            best = self._solve_in_turn(columns, labels, self.time_limit)
        if best is None:
            raise TimeoutError(
                f"DL8.5 found no tree within {self.time_limit} s; raise time_limit, or leave it out"
            )
        self.error_ = int(best.error)
        return binariser, relabelled(best.tree, names)

    def _solve_in_turn(
        self, columns: NDArray[np.bool_], labels: Labels, seconds: float
    ) -> Solved | None:
        """The best of depths 1, 2, …; of equally good ones the shallowest."""
        compile_kernels()
        deadline = time.monotonic() + seconds
        best, self.proved_ = None, False
        for depth in range(1, self.max_depth + 1):
            left = deadline - time.monotonic()
            if left <= 0 or self.proved_:
                break
            found = self._solve(columns, labels, depth, left)
            if found is None:
                continue
            if best is None or found.error < best.error:
                best = found
            ended = depth == self.max_depth and not found.timed_out
            self.proved_ = ended or best.error == 0
        return best

    def _solve(
        self, columns: NDArray[np.bool_], labels: Labels, depth: int, seconds: float | None
    ) -> Solved | None:
        """The best tree of a depth, or ``None`` if none was found in time."""
        return DL85_SOLVERS[self.solver](columns, labels, depth, self.min_sup, seconds)
