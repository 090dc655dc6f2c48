"""The nouns of breeding: grown trees, and children that are only described so far.

Most children are never selected. So a child is judged by what distinguishes it
from its parent, and its nodes are written only once it is to be a parent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.genetic import jkiss
from baselines.algorithms.genetic.nodes import NODE, Nodes

MUTANT = np.int64(-1)
SURVIVOR = np.int64(-2)


class Trees(NamedTuple):
    """Grown trees, one after the other in ``nodes``.

    Attributes
    ----------
    nodes : NODE, shape (at least all nodes,)
    start, n_nodes : where each tree begins, and its number of nodes.
    depth : levels below the root.
    hits : training rows classified correctly.
    """

    nodes: Nodes
    start: NDArray[np.int64]
    n_nodes: NDArray[np.int64]
    depth: NDArray[np.int64]
    hits: NDArray[np.int64]

    def tree(self, index: int) -> Nodes:
        return self.nodes[self.start[index] :][: self.n_nodes[index]]


class Brood(NamedTuple):
    """Children as changes to grown trees, and what is known of them.

    Attributes
    ----------
    recipient, point : the tree that is changed, and where.
    donor, branch : the tree and node whose subtree comes to ``point``, which
        leaves the bare branch if ``point`` is the root; or as ``donor``
        ``MUTANT`` or ``SURVIVOR``.
    feature, cut : of mutants, what ``point`` becomes.
    n_nodes, depth, hits : of the child.
    rng : uint64, shape (children, 4), the children's random generators.
    """

    recipient: NDArray[np.int64]
    point: NDArray[np.int64]
    donor: NDArray[np.int64]
    branch: NDArray[np.int64]
    feature: NDArray[np.int64]
    cut: NDArray[np.int64]
    n_nodes: NDArray[np.int64]
    depth: NDArray[np.int64]
    hits: NDArray[np.int64]
    rng: NDArray[np.uint64]


def undescribed(n: int) -> Brood:
    """That many children, all at the root of the first tree, of whom nothing is known yet."""
    rng = np.empty((n, jkiss.WORDS), dtype=np.uint64)
    return Brood._make([*np.zeros((9, n), dtype=np.int64), rng])


def room_for(n_nodes: int, spare: Nodes) -> Nodes:
    """Room for that many nodes: ``spare`` if they fit there, else with some to spare."""
    return spare if len(spare) >= n_nodes else np.empty(n_nodes + n_nodes // 4, dtype=NODE)
