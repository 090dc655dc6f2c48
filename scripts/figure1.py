#!/usr/bin/env python
"""Draw the trees of the paper's Figure 1: CART and GradTree side by side, in original units.

    .venv/bin/python scripts/figure1.py
    .venv/bin/python scripts/figure1.py --dataset titanic --protocol clean --trial 3

Writes an SVG and a PDF. Unless a trial is named, the one whose difference in F1 between the
two methods is the median of the ten is drawn, so that the picture flatters neither.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from datasets.dataset import Dataset
    from gradtree import Tree

METHODS = ("cart", "gradtree")
MODEL_SEED = 42
TRIALS = range(10)
TITLE_INCHES, LEGEND_INCHES, GAP_INCHES, MARGIN_INCHES = 0.5, 0.4, 0.35, 0.1


@dataclass(frozen=True, eq=False)
class Panel:
    """One tree with what is written above it."""

    name: str
    tree: Tree
    test_f1: float


@dataclass(frozen=True, eq=False)
class Pair:
    """Both methods on one trial."""

    trial: int
    split: Any
    panels: tuple[Panel, ...]

    @property
    def difference(self) -> float:
        return self.panels[1].test_f1 - self.panels[0].test_f1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dataset", default="echocardiogram", help="name or slug")
    parser.add_argument("--protocol", default="paper", choices=("paper", "clean"))
    parser.add_argument("--trial", type=int, help="0 to 9; default: the median one")
    parser.add_argument("--default", action="store_true", help="default, not tuned, parameters")
    parser.add_argument("--max-depth", type=int, help="draw no more levels of splits than this")
    parser.add_argument("--png", action="store_true", help="also write a PNG")
    parser.add_argument(
        "--output", type=Path, default=REPOSITORY / "results" / "figures", metavar="FOLDER"
    )
    return parser.parse_args()


def fitted_pair(dataset: Dataset, protocol: str, trial: int, tuned: bool) -> Pair:
    """Train both methods on one trial."""
    from sklearn.metrics import f1_score

    import baselines
    from datasets import make_split

    split = make_split(dataset, protocol, trial)
    panels = []
    for slug in METHODS:
        learner = baselines.learner(slug)
        params = learner.defaults(split.task)
        if tuned:
            params = baselines.published_params(slug, dataset.record.name, split.task)
        tree = learner.fit(split, params, MODEL_SEED).tree
        score = f1_score(split.y_test, tree.predict(split.X_test), average="macro")
        panels.append(Panel(learner.name, tree, float(score)))
    return Pair(trial, split, tuple(panels))


def chosen_pair(pairs: list[Pair]) -> Pair:
    """The pair with the median difference, the lower one of two."""
    return sorted(pairs, key=lambda pair: pair.difference)[(len(pairs) - 1) // 2]


def draw(pair: Pair, dataset: Dataset, max_depth: int | None) -> Figure:
    """Both trees on one figure, as wide as their nodes need."""
    from matplotlib import pyplot as plt
    from matplotlib.patches import Patch

    from gradtree import original_units, plot_tree
    from gradtree.views.palette import class_colours
    from gradtree.views.plot import drawing_inches

    units = original_units(pair.split.preprocessing, dataset.X.iloc[pair.split.rows.train])
    sizes = [drawing_inches(panel.tree, max_depth) for panel in pair.panels]
    width = sum(size[0] for size in sizes) + GAP_INCHES + 2 * MARGIN_INCHES
    tallest = max(size[1] for size in sizes)
    height = tallest + TITLE_INCHES + LEGEND_INCHES
    figure = plt.figure(figsize=(width, height))
    left = MARGIN_INCHES
    for letter, panel, size in zip("ab", pair.panels, sizes, strict=True):
        bottom = LEGEND_INCHES + tallest - size[1]
        box = (left / width, bottom / height, size[0] / width, size[1] / height)
        axes = plot_tree(
            panel.tree,
            units=units,
            class_names=pair.split.class_names,
            max_depth=max_depth,
            ax=figure.add_axes(box),
        )
        _write_title(axes, letter, panel)
        left += size[0] + GAP_INCHES
    figure.text(
        (MARGIN_INCHES + 0.05) / width,
        0.12 / height,
        _caption(pair, dataset),
        fontsize=9,
        color="#444444",
    )
    names = pair.split.class_names
    figure.legend(
        handles=[
            Patch(color=colour, label=name)
            for colour, name in zip(class_colours(len(names)), names, strict=True)
        ],
        loc="lower right",
        ncols=len(names),
        frameon=False,
        fontsize=9,
    )
    return figure


def _caption(pair: Pair, dataset: Dataset) -> str:
    source = pair.split.provenance
    return (
        f"{dataset.record.name}, protocol {source.protocol}, trial {pair.trial}. "
        "Splits in original units (n/a: missing values). Leaves: predicted class, its "
        "probability, training rows; the paler, the less sure. Thicker branches: more rows."
    )


def _write_title(axes: Any, letter: str, panel: Panel) -> None:
    tree = panel.tree
    facts = f"macro F1 on test rows {panel.test_f1:.3f} · {tree.node_count} nodes"
    axes.annotate(
        f"({letter}) {panel.name}",
        (0, 1),
        xycoords="axes fraction",
        xytext=(4, 22),
        textcoords="offset points",
        fontsize=13,
        fontweight="bold",
    )
    axes.annotate(
        facts,
        (0, 1),
        xycoords="axes fraction",
        xytext=(4, 7),
        textcoords="offset points",
        fontsize=10,
        color="#444444",
    )


def main() -> int:
    import matplotlib

    from datasets import load_dataset, resolve

    matplotlib.use("agg")
    # Text stays text in the files, so that it can be searched and edited.
    matplotlib.rcParams |= {"svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": "figure1"}
    args = arguments()
    dataset = load_dataset(resolve(args.dataset))
    trials = TRIALS if args.trial is None else (args.trial,)
    pairs = [fitted_pair(dataset, args.protocol, t, not args.default) for t in trials]
    pair = chosen_pair(pairs)
    for one in pairs:
        scores = ", ".join(f"{panel.name} {panel.test_f1:.3f}" for panel in one.panels)
        print(f"trial {one.trial}: {scores}{'  ← drawn' if one is pair else ''}")
    figure = draw(pair, dataset, args.max_depth)
    args.output.mkdir(parents=True, exist_ok=True)
    formats = ("svg", "pdf", "png") if args.png else ("svg", "pdf")
    for suffix in formats:
        path = args.output / f"figure1_{dataset.slug}_{args.protocol}.{suffix}"
        metadata = {"Date": None} if suffix == "svg" else {"CreationDate": None}
        figure.savefig(path, metadata={} if suffix == "png" else metadata, dpi=150)
        print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
