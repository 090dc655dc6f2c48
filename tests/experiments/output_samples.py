"""Small answers made by hand, for the tests of what is written."""

import math
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure as Drawing

from experiments.analysis import drawing as style
from experiments.analysis.answer import Answer, Figure, Format, Grid, Table
from experiments.analysis.runs import Runs
from experiments.output import files, readme

PROFILES = "| profile |"
NAMES = Runs(
    pd.DataFrame(),
    {slug: {"name": slug.title()} for slug in ("blood", "adult", "iris", "zoo")},
    {
        "gradtree": {"name": "GradTree", "group": "Gradient-based"},
        "cart": {"name": "CART", "group": "Greedy"},
    },
    {},
    Path(),
)


def grid(**changes: Any) -> Grid:
    """Two datasets of each task, two learners; CART could not run on one."""
    rows, summary = [], []
    for task, datasets in (("binary", ("blood", "adult")), ("multi", ("iris", "zoo"))):
        for place, dataset in enumerate(datasets):
            for method, mean, rank in (("gradtree", 0.71, 2), ("cart", 0.75, 1)):
                gone = dataset == "zoo" and method == "cart"
                cell: dict[str, Any] = {"task": task, "dataset": dataset, "method": method}
                cell |= {"mean": math.nan if gone else mean + 0.01 * place, "std": 0.034}
                cell |= {"n": 0.0 if gone else 10.0, "expected": 10.0}
                rows.append(cell | {"rank": None if gone else rank, "missing": "n>12" * gone})
        for method, value, rank in (("gradtree", 0.5, 2), ("cart", 1.0, 1)):
            line = {"task": task, "statistic": "MRR", "method": method, "value": value}
            summary.append(line | {"spread": 0.1, "n": 2, "rank": rank})
            summary.append({**line, "statistic": "Mean", "spread": None, "n": 2, "rank": None})
    given: dict[str, Any] = {
        "name": "test-f1-tuned",
        "title": "Test F1, tuned hyperparameters",
        "caption": "Macro F1 on the test rows",
        "experiment": "tuned",
        "metric": "test_f1",
        "protocol": "paper",
        "methods": ("gradtree", "cart"),
        "frame": pd.DataFrame(rows).astype({"rank": "Int64"}),
        "summary": pd.DataFrame(summary).astype({"rank": "Int64"}),
        "printed": ("MRR",),
    }
    return Grid(**{**given, **changes})


def table(**changes: Any) -> Table:
    frame = pd.DataFrame(
        {
            "Learner": ["GradTree", "CART"],
            "datasets": [1372.0, 22.0],
            "difference": [-0.0002, 0.0131],
            "95 % interval: low": [-0.0123, 0.0011],
            "95 % interval: high": [0.0119, 0.0251],
            "p": [0.00001, 0.041],
            "Sizes: ours": [55.0, 7.25],
            "Sizes: ours spread": [3.0, None],
        }
    )
    change = Format(kind="change")
    given: dict[str, Any] = {
        "name": "against-cart",
        "title": "GradTree against CART",
        "caption": "Mean difference of test F1",
        "frame": frame,
        "formats": {
            "datasets": Format(kind="count"),
            **dict.fromkeys(("difference", "95 % interval: low", "95 % interval: high"), change),
            "p": Format(kind="p"),
            "Sizes: ours": Format(1, best="min"),
        },
    }
    return Table(**{**given, **changes})


def drawing(height: float = 1.0) -> Drawing:
    figure = style.canvas(3, 2)
    axes = figure.subplots()
    axes.plot([0, 1], [0, height], marker=style.mark_of("cart").marker)
    axes.set_title("A line")
    return figure


def answers() -> list[Answer]:
    """The questions that the READMEs show."""
    verdicts = pd.DataFrame(
        {"table": ["t"], "method": ["cart"], "outcome": ["exact"], "p_value": [0.1]}
    )
    claims = pd.DataFrame({"claim": ["a"], "sentence": ["It is."], "outcome": ["holds"]})
    reproduces = (
        table(name="reproduces"),
        Table("verdicts", "Verdicts", "Every cell", verdicts),
        grid(),
    )
    held = (Table("claims", "Claims", "Every sentence", claims),)
    said, figure = ("Yes, in the mean.", "All of it."), Figure("difference", "A figure", drawing)
    facts = {"shown": ("reproduces",), "extra": {"first": table()}}
    use = ("use", "Should I use it?", ("No.", "CART is better."), (table(),), (figure,))
    return [
        Answer("reproduces", "Does it reproduce?", said, reproduces, **facts),
        Answer("conclusions", "Do its conclusions hold?", ("Half of them.",), held),
        Answer(*use, shown=("against-cart",)),
        Answer("interactions", "What does it find?", ("A board.",)),
        Answer("new-defaults", "Are they better?", ("Yes.",)),
        Answer("runtime", "How long?", ("An hour.",)),
    ]


def written(folder: Path) -> Path:
    """Everything of the answers in a folder that looks like the repository."""
    results = folder / "results"
    files.write(results, files.table_files(answers(), NAMES))
    for figure in [figure for answer in answers() for figure in answer.figures]:
        files.save(figure.draw(), results / files.FIGURES / figure.name)
    source = readme.REPOSITORY / readme.RAW_TABLES
    (results / "bench").mkdir()
    (results / "bench" / source.name).write_bytes(source.read_bytes())
    for name, blocks in readme.blocks(answers(), PROFILES, folder).items():
        (folder / name).parent.mkdir(exist_ok=True)
        pairs = "\n\n".join(f"Prose.\n{readme.BEGIN}\n{readme.END}" for _ in blocks)
        (folder / name).write_text(f"# Title\n{pairs}\nMore prose.\n", encoding="utf-8")
    readme.update(readme.fresh(readme.blocks(answers(), PROFILES, folder), folder), folder)
    return results
