#!/usr/bin/env python
"""Write the trees and training curves that the report draws, into results/trees.

    .venv/bin/python scripts/trees.py                     every dataset, trees kept in .runs
    .venv/bin/python scripts/trees.py --dataset iris,zoo  only these

Trees that the store has not kept are fitted again. Needs the data.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))


def arguments() -> argparse.Namespace:
    summary = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(description=summary)
    parser.add_argument("--store", type=Path, default=REPOSITORY / ".runs", metavar="FOLDER")
    parser.add_argument(
        "--output", type=Path, default=REPOSITORY / "results" / "trees", metavar="FOLDER"
    )
    parser.add_argument("--dataset", default="", metavar="A,B", help="default: all 36")
    parser.add_argument("--method", default="", metavar="A,B", help="default: all with a tree")
    return parser.parse_args()


def main() -> int:
    import datasets
    from experiments.records.store import Store
    from experiments.report.curves import write_curves
    from experiments.report.harvest import CURVE_DATASETS, METHODS, harvest
    from experiments.report.trees import write_trees

    args = arguments()
    slugs = [datasets.resolve(text) for text in args.dataset.split(",") if text]
    methods = tuple(text for text in args.method.split(",") if text) or METHODS
    records = Store(args.store).latest()
    curves = []
    for slug in slugs or datasets.names():
        found = harvest(slug, records, args.store, methods=methods, curves=slug in CURVE_DATASETS)
        curves += found.curves
        path = write_trees(args.output, slug, found.trees)
        print(f"{path}: {', '.join(entry['method'] for entry in found.trees) or 'no tree'}")
    if curves and not slugs:
        print(write_curves(args.output, curves))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
