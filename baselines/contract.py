"""What every learner of the suite offers, GradTree included.

A learner is one module of this folder that ends in ``LEARNER = Learner(...)``.
The estimator that its ``fit`` returns follows scikit-learn (``fit``,
``predict``, ``predict_proba``, ``random_state``) and, where it is one tree,
``Fitted.tree`` holds it as a canonical ``Tree``.

The module itself stays light: it imports its library, and its estimator class
from ``baselines.algorithms``, inside ``fit``. So planning an experiment costs
no import of TensorFlow, Numba or scikit-learn.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from baselines.algorithms.inner_folds import over_classes as over_classes
from baselines.algorithms.inner_folds import spread
from datasets.split import Split as Split
from datasets.split import Task as Task

if TYPE_CHECKING:
    from gradtree.trees.tree import Tree

Params = Mapping[str, Any]
CLASSES: tuple[Task, ...] = ("binary", "multi")
NUMBERS: tuple[Task, ...] = ("regression",)
QUANTILES = (0.1, 0.5, 0.9)
"""What ``predict_quantiles`` of a learner of numbers predicts, a column each."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained estimator and the rows that count as its training rows (train F1)."""

    # Has ``classes_``, ``predict`` (class indices) and ``predict_proba``; of numbers, ``predict``
    # and, if it predicts the ``QUANTILES``, ``predict_quantiles``.
    estimator: Any
    X_fit: NDArray[np.float64]
    y_fit: NDArray[Any]
    # The canonical tree over the split's features, one ``value`` column per class of the dataset,
    # or a ``RegressionTree``.
    tree: Tree | None
    size: int | None  # nodes as the paper counts them; ``None`` for what is no tree
    epochs: int | None = None  # passes over the data, for learners that make passes
    extra: Mapping[str, Any] = field(default_factory=dict)  # what else the run shall keep
    # Processor time of work that an earlier fit in this process has done for this one, too.
    shared_seconds: float = 0.0


@dataclass(frozen=True)
class Learner:
    """A named method with everything the experiments need to know about it."""

    slug: str
    name: str  # as printed in the paper's tables
    version: str  # bumped whenever the same parameters may give other numbers
    defaults: Callable[[Task], dict[str, Any]]  # of the paper's default experiment
    fit: Callable[[Split, Params, int], Fitted]  # with parameters and a seed
    # Why a shape (features, classes) cannot be handled, printed in the table cell, else ``None``.
    skip: Callable[[int, int], str | None] = lambda n_features, n_classes: None
    published: str | None = None  # CSV in ``results/paper`` with the tuned parameters
    # From a row of that CSV to those parameters that the tuned experiment sets differently.
    translate: Callable[[Mapping[str, str], Task], dict[str, Any]] | None = None
    space: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # what a search tries
    # Parameters without what makes no difference for a task, so that no search scores equals twice.
    simplify: Callable[[Params, Task], dict[str, Any]] = lambda params, task: dict(params)
    in_paper: bool = False  # the method belongs to the paper's tables
    needs: tuple[str, ...] = ()  # importable modules without which the learner is skipped
    installs: str | None = None  # the optional extra of this project that brings them
    group: str = "Beyond the paper"  # heading above its column in the paper's tables
    takes_weights: bool = False  # without, protocols that weigh rows of rare classes skip it
    # Name shared by learners that share work on a split (``Fitted.shared_seconds``), so that a
    # runner has them follow each other in one worker; ``None`` shares with itself only.
    family: str | None = None
    tasks: tuple[Task, ...] = CLASSES  # what it can learn: classes, or ``NUMBERS``

    def missing(self) -> tuple[str, ...]:
        """Those of ``needs`` that are not installed here."""
        return tuple(name for name in self.needs if importlib.util.find_spec(name) is None)

    def absence(self) -> str | None:
        """What is not installed and the command that installs it, or ``None``."""
        if not self.missing():
            return None
        command = f"; pip install -e '.[{self.installs}]'" if self.installs else ""
        return f"{', '.join(self.missing())} not installed{command}"

    def unfit(self, n_classes: int) -> str | None:
        """Why it cannot learn so many classes, or, with 0, numbers; ``None`` if it can."""
        task: Task = "multi" if n_classes > 2 else "binary" if n_classes else "regression"
        if task in self.tasks:
            return None
        known = {CLASSES: "classes", NUMBERS: "numbers"}
        return f"{known.get(self.tasks, ' and '.join(self.tasks))} only"

    def why_not(self, n_features: int, n_classes: int) -> str | None:
        """Why this learner cannot be fitted to such data here, or ``None`` if it can."""
        return self.unfit(n_classes) or self.skip(n_features, n_classes) or self.absence()


def class_probabilities(estimator: Any, X: ArrayLike, n_classes: int) -> NDArray[np.float64]:
    """``estimator.predict_proba`` with one column per class of the dataset.

    An estimator knows the classes of its training rows only; others get probability 0.
    """
    seen = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    return spread(seen, np.asarray(estimator.classes_), n_classes)
