"""The genetic tree as a scikit-learn classifier, and the canonical tree of a search's winner."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from baselines.algorithms.classifier import TreeClassifier
from baselines.algorithms.genetic.evolution import Settings, evolve
from baselines.algorithms.genetic.nodes import LEAF
from baselines.algorithms.genetic.rows import encode, thresholds_of
from gradtree.trees.simplify import class_sums
from gradtree.trees.tree import Tree

BOUNDS = (
    ("n_thresholds", 1, np.iinfo(np.int16).max),
    ("n_trees", 2, np.inf),
    ("max_iter", 0, np.inf),
    ("n_elitism", 0, np.inf),
    ("patience", 2, np.inf),
    ("cross_prob", 0, 1),
    ("mutation_prob", 0, 1),
)
"""Of parameters: the smallest and the largest that are possible."""


@dataclass(eq=False, repr=False)
class GeneticTreeClassifier(TreeClassifier, Settings):
    """A decision tree bred by selection, mutation and crossing of subtrees.

    With an integer ``random_state`` it makes every draw of the library
    ``genetic-tree`` 0.1.2 under that seed, and so grows the very same tree, including what
    the library does beside its documentation: the first generation has 400 trees whatever
    ``n_trees`` says, the depth is not limited, exactly ``ceil(n_trees * mutation_prob)`` parents
    are mutated, a leaf without a clear majority keeps the class the search gave it, and fitness
    that is not positive is raised to the smallest absolute one before parents are selected by it.

    ``n_iter_`` generations are bred; ``best_fitness_`` is that of the first and every later one.
    """

    _dtype = np.float32

    n_thresholds: int = 10  # candidates per feature, evenly spaced order statistics
    random_state: Any = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Breed a tree for the rows of ``X``, which are taken as ``float32``."""
        rows, coded = self._checked(X, y)
        self._check(rows.shape[1], len(self.classes_))
        thresholds = thresholds_of(rows, self.n_thresholds)
        data = encode(rows, coded, thresholds, len(self.classes_))
        random = check_random_state(self.random_state)
        nodes, self.best_fitness_ = evolve(data, len(rows), self, random)
        cuts = thresholds[np.where(nodes["left"] == LEAF, 0, nodes["feature"]), nodes["cut"]]
        shape = nodes["left"], nodes["right"], nodes["feature"], cuts
        self.tree_: Tree = canonical(*shape, rows, coded, len(self.classes_))
        self.n_iter_ = len(self.best_fitness_) - 1
        return self

    def _check(self, n_features: int, n_classes: int) -> None:
        for name, least, most in BOUNDS:
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"{name} = {getattr(self, name)} is not from {least} to {most}")
        if self.mutation_prob == 0 and self.n_elitism == 0:
            raise ValueError("the trees could die out: raise mutation_prob or n_elitism above 0")
        told = "a mutation replaces a feature or a class by another one; use another learner"
        if n_features < 2:
            raise ValueError(f"GeneticTree needs at least 2 features, but n_features = 1: {told}")
        if n_classes < 2:
            raise ValueError(f"GeneticTree needs at least 2 classes, but y has 1 class: {told}")


def canonical(
    left: NDArray[Any],
    right: NDArray[Any],
    feature: NDArray[Any],
    threshold: NDArray[Any],
    X: NDArray[np.float32],
    y: NDArray[np.intp],
    n_classes: int,
) -> Tree:
    """The canonical tree, whose leaves predict the majority of their training rows.

    Children have any numbering with root 0; the ``feature`` of a leaf is its class. Of equally
    frequent classes a leaf keeps the one the search gave it, and a leaf without rows keeps its
    class, too. That class is put first among equals by the smallest possible increment of its
    share.
    """
    order = _depth_first(left, right)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    leaf = left[order] == LEAF
    bare = Tree(
        children_left=np.where(leaf, LEAF, place[left[order]]),
        children_right=np.where(leaf, LEAF, place[right[order]]),
        feature=np.where(leaf, LEAF, feature[order]),
        threshold=np.where(leaf, np.nan, threshold[order]),
        value=np.full((len(order), n_classes), 1 / n_classes),
        n_features=X.shape[1],
    )
    counts = class_sums(bare, bare.apply(X), y)
    value = _shares(counts, np.where(leaf, feature[order], counts.argmax(axis=1)))
    return replace(bare, value=value, n_node_samples=counts.sum(axis=1).astype(np.int64))


def _depth_first(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.int64]:
    order, pending = [], [0]
    while pending:
        node = pending.pop()
        order.append(node)
        if left[node] != LEAF:
            pending += [right[node], left[node]]
    return np.array(order)


def _shares(counts: NDArray[np.float64], favoured: NDArray[np.int64]) -> NDArray[np.float64]:
    """Class shares per node, uniform without rows, in which the favoured class wins ties."""
    counts = np.where(counts.sum(axis=1, keepdims=True) > 0, counts, 1.0)
    shares = counts / counts.sum(axis=1, keepdims=True)
    everyone, most = np.arange(len(shares)), shares.argmax(axis=1)
    behind = (shares[everyone, favoured] == shares[everyone, most]) & (favoured != most)
    tied = everyone[behind], favoured[behind]
    shares[tied] = np.nextafter(shares[tied], 1)
    return shares
