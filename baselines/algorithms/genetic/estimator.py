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

LARGEST_CUT = np.iinfo(np.int16).max


@dataclass(eq=False, repr=False)
class GeneticTreeClassifier(TreeClassifier):
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
    n_trees: int = 400  # parents selected per generation
    max_iter: int = 500  # generations at most
    cross_prob: float = 0.6  # of each parent to be crossed with a random other one
    mutation_prob: float = 0.4  # share of the parents to mutate
    n_elitism: int = 3  # best trees that survive a generation unchanged
    patience: int = (
        100  # generations over which the best fitness has to rise, else the search stops
    )
    depth_penalty: float = 0.01  # fitness is accuracy minus this times the depth
    random_state: Any = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Breed a tree for the rows of ``X``, which are taken as ``float32``."""
        rows, coded = self._checked(X, y)
        settings = self._settings()
        self._check_shape(rows.shape[1], len(self.classes_))
        thresholds = thresholds_of(rows, self.n_thresholds)
        data = encode(rows, coded, thresholds, len(self.classes_))
        random = check_random_state(self.random_state)
        nodes, self.best_fitness_ = evolve(data, len(rows), settings, random)
        cuts = thresholds[np.where(nodes["left"] == LEAF, 0, nodes["feature"]), nodes["cut"]]
        shape = nodes["left"], nodes["right"], nodes["feature"], cuts
        self.tree_: Tree = canonical(*shape, rows, coded, len(self.classes_))
        self.n_iter_ = len(self.best_fitness_) - 1
        return self

    def _check_shape(self, n_features: int, n_classes: int) -> None:
        if n_features < 2:
            raise ValueError(
                "GeneticTree needs at least 2 features, but n_features = 1: a mutation replaces "
                "a feature by another one. Add a column or use another learner"
            )
        if n_classes < 2:
            raise ValueError(
                "GeneticTree needs at least 2 classes, but y has 1 class: a mutation replaces "
                "a class by another one. Predict that class"
            )

    def _settings(self) -> Settings:
        least = {"n_thresholds": 1, "n_trees": 2, "max_iter": 0, "n_elitism": 0, "patience": 2}
        for name, smallest in least.items():
            if not getattr(self, name) >= smallest:
                raise ValueError(f"{name} = {getattr(self, name)} must be at least {smallest}")
        for name in ("cross_prob", "mutation_prob"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} = {getattr(self, name)} must be between 0 and 1")
        if self.mutation_prob == 0 and self.n_elitism == 0:
            raise ValueError("the trees could die out: raise mutation_prob or n_elitism above 0")
        if self.n_thresholds > LARGEST_CUT:
            raise ValueError(f"n_thresholds = {self.n_thresholds} exceeds {LARGEST_CUT}")
        return Settings(*(getattr(self, name) for name in Settings._fields))


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
