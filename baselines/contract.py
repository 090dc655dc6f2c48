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

from baselines.algorithms.inner_folds import SplitLike as SplitLike
from baselines.algorithms.inner_folds import Task as Task
from baselines.algorithms.inner_folds import over_classes as over_classes
from baselines.algorithms.inner_folds import spread

if TYPE_CHECKING:
    from gradtree.trees.tree import Tree

Params = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained estimator and the rows that count as its training rows (train F1)."""

    estimator: Any  # has ``classes_``, ``predict`` (class indices) and ``predict_proba``
    X_fit: NDArray[np.float64]
    y_fit: NDArray[np.int64]
    # The canonical tree over the split's features; one ``value`` column per class of the dataset.
    tree: Tree | None
    size: int | None  # nodes as the paper counts them; ``None`` for what is no tree
    epochs: int | None = None  # passes over the data, for learners that make passes
    extra: Mapping[str, Any] = field(default_factory=dict)  # what else the run shall keep
    # Processor time of work that an earlier fit in this process has done for this one, too.
    shared_seconds: float = 0.0


def _as_given(params: Params, task: Task) -> dict[str, Any]:
    return dict(params)


def _anything_goes(n_features: int, n_classes: int) -> str | None:
    return None


@dataclass(frozen=True)
class Learner:
    """A named method with everything the experiments need to know about it.

    Attributes
    ----------
    slug, name : identifier, and the name printed in the paper's tables.
    version : bumped whenever the same parameters may give other numbers.
    defaults : parameters of the paper's default experiment for a task.
    fit : trains on a split with given parameters and a seed.
    skip : the reason why a shape (features, classes) cannot be handled,
        printed in the table cell, else ``None``.
    published : CSV in ``results/paper`` with the tuned parameters.
    translate : turns a row of that CSV into parameters, those only that the
        tuned experiment sets differently from the defaults.
    space : the search space, parameter name to candidate values.
    simplify : the same parameters without what makes no difference for a task, so
        that a search does not score equal candidates twice.
    in_paper : whether the method belongs to the paper's tables.
    needs : importable modules without which the learner is skipped.
    installs : the optional extra of this project that brings them.
    group : heading above its column in the paper's tables.
    takes_weights : whether it can weigh rows; without, it is skipped by protocols that weigh
        the rows of rare classes.
    family : name shared by learners that share work on a split (``Fitted.shared_seconds``), so
        that a runner has them follow each other in one worker; ``None`` shares with itself only.
    """

    slug: str
    name: str
    version: str
    defaults: Callable[[Task], dict[str, Any]]
    fit: Callable[[SplitLike, Params, int], Fitted]
    skip: Callable[[int, int], str | None] = _anything_goes
    published: str | None = None
    translate: Callable[[Mapping[str, str], Task], dict[str, Any]] | None = None
    space: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    simplify: Callable[[Params, Task], dict[str, Any]] = _as_given
    in_paper: bool = False
    needs: tuple[str, ...] = ()
    installs: str | None = None
    group: str = "Beyond the paper"
    takes_weights: bool = False
    family: str | None = None

    def missing(self) -> tuple[str, ...]:
        """Those of ``needs`` that are not installed here."""
        return tuple(name for name in self.needs if importlib.util.find_spec(name) is None)

    def absence(self) -> str | None:
        """What is not installed and the command that installs it, or ``None``."""
        if not self.missing():
            return None
        command = f"; pip install -e '.[{self.installs}]'" if self.installs else ""
        return f"{', '.join(self.missing())} not installed{command}"

    def why_not(self, n_features: int, n_classes: int) -> str | None:
        """Why this learner cannot be fitted to such data here, or ``None`` if it can."""
        return self.skip(n_features, n_classes) or self.absence()


def class_probabilities(estimator: Any, X: ArrayLike, n_classes: int) -> NDArray[np.float64]:
    """``estimator.predict_proba`` with one column per class of the dataset.

    An estimator knows the classes of its training rows only; others get probability 0.
    """
    seen = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    return spread(seen, np.asarray(estimator.classes_), n_classes)
