"""Trees as text: indented for people, in the DOT language for Graphviz; colours of drawings."""

import numpy as np

from gradtree.trees.regression_tree import RegressionTree
from gradtree.trees.tree import LEAF, Tree
from gradtree.typing import Names
from gradtree.views.rules import branches, checked_class_names, describe, node_facts, node_verdict

# The palette of Okabe and Ito, blue and orange first because binary trees are most common.
OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")

# Shares of colour in the background of unsure and sure nodes: black text stays readable on both.
PALEST, STRONGEST = 0.15, 0.7


def export_text(
    tree: Tree,
    *,
    feature_names: Names = None,
    class_names: Names = None,
    max_depth: int | None = None,
) -> str:
    """The tree as indented text, one line per branch.

    Parameters
    ----------
    tree, feature_names, class_names
        As in :func:`gradtree.decision_rules`.
    max_depth : int, optional
        Branches below this many splits are cut off and marked with ``…``.

    Returns
    -------
    str
        Lines such as ``├─ age <= 30 → survived (0.91, 21 of 23 rows)``: what a leaf predicts, and
        the share and number of its training rows that are so. Long lists of categories are
        shortened; :func:`gradtree.decision_rules` has them all.
    """
    classes = checked_class_names(tree, class_names)
    splits = describe(tree, feature_names)
    if 0 not in splits:
        return f"→ {node_verdict(tree, 0, classes)}"
    lines: list[str] = []
    # Node, the condition that leads to it, what stands left of it, depth, whether it comes last.
    waiting: list[tuple[int, str, str, int, bool]] = []

    def expect_children(node: int, margin: str, depth: int) -> None:
        (left, below), (right, above) = branches(tree, node, splits[node])
        waiting.append((right, above.short, margin, depth, True))
        waiting.append((left, below.short, margin, depth, False))

    expect_children(0, "", 1)
    while waiting:
        node, condition, margin, depth, last = waiting.pop()
        head = f"{margin}{'└─' if last else '├─'} {condition}"
        if node not in splits:
            lines.append(f"{head} → {node_verdict(tree, node, classes)}")
        elif max_depth is not None and depth >= max_depth:
            lines.append(f"{head} … {node_verdict(tree, node, classes)}")
        else:
            lines.append(head)
            expect_children(node, margin + ("   " if last else "│  "), depth + 1)
    return "\n".join(lines)


def export_graphviz(tree: Tree, *, feature_names: Names = None, class_names: Names = None) -> str:
    """The tree in the DOT language, coloured by class (colour-blind safe).

    Names are as in :func:`gradtree.decision_rules`. Write it to a file and run ``dot -Tsvg``, or
    pass it to ``graphviz.Source``.
    """
    classes = checked_class_names(tree, class_names)
    splits = describe(tree, feature_names)
    lines = [
        "digraph Tree {",
        "graph [ranksep=0.35, nodesep=0.2];",
        'node [shape=box, style="filled,rounded", fontname="Helvetica", penwidth=0];',
        'edge [fontname="Helvetica", fontsize=11, color="#888888"];',
    ]
    for node in range(tree.node_count):
        split = splits.get(node)
        label = node_verdict(tree, node, classes) if split is None else split.column
        fill = leaf_fill(tree, node) if split is None else "#f2f2f2"
        lines.append(f'{node} [label={_quoted(label)}, fillcolor="{fill}"];')
        if split is not None:
            for child, side in branches(tree, node, split):
                lines.append(f"{node} -> {child} [label={_quoted(side.short)}];")
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def class_colours(n_classes: int) -> list[str]:
    """One colour per class; from the ninth class on they repeat."""
    return [OKABE_ITO[place % len(OKABE_ITO)] for place in range(n_classes)]


def leaf_fill(tree: Tree, node: int) -> str:
    """The background of a leaf, mixed with white.

    The colour of its class, the paler the smaller the share of that; or the paler the smaller its
    (first) number is among the leaves.
    """
    label, share, _, _ = node_facts(tree, node)
    if isinstance(tree, RegressionTree):
        numbers = tree.value[tree.children_left == LEAF, 0]
        span = np.ptp(numbers)
        strength = (tree.value[node, 0] - numbers.min()) / span if span > 0 else 0.5
    else:
        chance = 1.0 / tree.n_classes
        strength = 1.0 if tree.n_classes == 1 else ((share or 0.0) - chance) / (1.0 - chance)
    mixed = PALEST + (STRONGEST - PALEST) * np.clip(strength, 0.0, 1.0)
    colour = class_colours(tree.n_classes)[label]
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - mixed * (255 - c)):02x}" for c in channels)
