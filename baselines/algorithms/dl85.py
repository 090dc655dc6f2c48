"""DL8.5, the provably optimal tree of small depth, by our kernels or by a library."""

import numbers
from dataclasses import dataclass

from baselines.algorithms.binarise import Binariser, paper_binariser
from baselines.algorithms.searched import Found, Labels, Matrix, SearchedTreeClassifier
from baselines.algorithms.solvers import DL85_SOLVERS


@dataclass(eq=False, repr=False)
class DL85Classifier(SearchedTreeClassifier):
    """DL8.5: the tree with the fewest training errors among all of a depth, or nearly so.

    The search is that of ``pydl8.5``, which passes over some trees whose leaves are as small as
    ``min_sup`` allows (see ``baselines.algorithms.branch_and_bound``). ``error_`` are the training
    rows that the tree gets wrong, as the solver counts them.
    """

    max_depth: int = 4
    min_sup: int = 1  # fewest training rows in a leaf
    time_limit: float | None = None  # seconds, after which the best tree so far is taken
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
        search = DL85_SOLVERS[self.solver]
        found = search(columns, labels, self.max_depth, self.min_sup, self.time_limit)
        if found is None:
            raise TimeoutError(
                f"DL8.5 found no tree within {self.time_limit} s; raise time_limit, or leave it out"
            )
        self.error_, self.proved_ = int(found.error), not found.timed_out
        return binariser, found.tree
