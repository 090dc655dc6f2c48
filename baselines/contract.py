"""What every learner of the suite offers, GradTree included.

A learner is one module that ends in ``LEARNER = Learner(...)``. The estimator
it names follows scikit-learn (``fit``, ``predict``, ``predict_proba``,
``random_state``) and has ``tree_`` (a canonical ``Tree``) where it is one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from gradtree.tree import Tree

Params = Mapping[str, Any]
Task = Literal["binary", "multi"]


class SplitLike(Protocol):
    """The part of ``datasets.Split`` that learners use."""

    X_train: NDArray[np.float64]
    y_train: NDArray[np.int64]
    X_valid: NDArray[np.float64]
    y_valid: NDArray[np.int64]
    X_test: NDArray[np.float64]

    @property
    def n_features(self) -> int: ...
    @property
    def n_classes(self) -> int: ...
    @property
    def task(self) -> Task: ...
    @property
    def provenance(self) -> Any: ...


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained estimator and the rows that count as its training rows (train F1)."""

    estimator: Any
    X_fit: NDArray[np.float64]
    y_fit: NDArray[np.int64]
    tree: Tree | None
    size: int | None
    epochs: int | None = None


@dataclass(frozen=True)
class Learner:
    """A named method with everything the experiments need to know about it.

    Attributes
    ----------
    slug, name : identifier, and the name printed in the paper's tables.
    version : bumped whenever the same parameters may give other numbers.
    defaults : parameters of the paper's default experiment for a task.
    fit : trains on a split with given parameters and a seed.
    skip : the reason why a shape cannot be handled (printed in the table cell), else ``None``.
    published : CSV in ``results/paper`` with the tuned parameters, read by ``translate``.
    space : the search space, parameter name to candidate values.
    in_paper : whether the method belongs to the paper's tables.
    """

    slug: str
    name: str
    version: str
    defaults: Callable[[Task], dict[str, Any]]
    fit: Callable[[SplitLike, Params, int], Fitted]
    skip: Callable[[int, int], str | None] = field(default=lambda n_features, n_classes: None)
    published: str | None = None
    translate: Callable[[Mapping[str, str], Task], dict[str, Any]] | None = None
    space: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    in_paper: bool = True
    needs: tuple[str, ...] = ()
    """Importable modules without which the learner is skipped, with that reason."""
