"""Trees as text: indented for people, in the DOT language for Graphviz."""

from gradtree.trees.tree import Tree
from gradtree.typing import Names
from gradtree.views.palette import leaf_fill
from gradtree.views.rules import checked_class_names, describe, node_verdict


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
    tree : Tree
    feature_names, class_names
        As in :func:`gradtree.views.rules.decision_rules`.
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
        right, left = int(tree.children_right[node]), int(tree.children_left[node])
        waiting.append((right, splits[node].right.short, margin, depth, True))
        waiting.append((left, splits[node].left.short, margin, depth, False))

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
            sides = (tree.children_left[node], split.left), (tree.children_right[node], split.right)
            lines += [f"{node} -> {child} [label={_quoted(side.short)}];" for child, side in sides]
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
