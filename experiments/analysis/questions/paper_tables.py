"""The paper's tables, filled from the runs of each protocol, and tables of our own beside them."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from experiments.analysis import grids, stats
from experiments.analysis.answer import Answer, Grid, Table, table
from experiments.analysis.grids import added, cells, grid, has_results, matrix
from experiments.analysis.printed import TASK_NAMES, TASKS, TUNED_METHODS, Printed
from experiments.analysis.questions import draws
from experiments.analysis.runs import Runs
from experiments.analysis.stats import over_datasets
from experiments.analysis.verdicts import verdicts, with_verdicts

REFITTED = ("test-f1-tuned", "ablation-tuned")
"""Tables whose cells are test F1 of tuned GradTree, of which refits tell how stable they are."""


def answer(runs: Runs, printed: Printed) -> Answer | None:
    if not len(runs.frame):
        return None
    tables = [each for protocol in protocols(runs) for each in _tables(runs, printed, protocol)]
    whole = [each for each in tables if isinstance(each, Grid) and each.protocol == "paper"]
    cell = whole[0].frame
    finished = (cell["expected"] > 0) & (cell["n"] == cell["expected"])
    done = int((finished | (cell["missing"] != "")).sum())
    sentences = (
        f"Every table of the paper, made from the runs here; {done} of the {len(cell)} cells of "
        "the main one have all their trials or cannot have any.",
        "Under protocol `paper` ranks and means follow the paper's rules, and a number that the "
        "paper lacks stands in brackets and in no rank.",
        "In tables with other learners, means and ranks are over the datasets that all of them "
        "have; the captions name those left out.",
    )
    shown = ("test-f1-tuned", "test-f1-default", "summary", "ablation-summary", "datasets")
    return Answer("tables", "What is in the tables?", sentences, tuple(tables), shown=shown)


def protocols(runs: Runs) -> list[str]:
    """The paper's protocol, and others with runs of an experiment that has tables."""
    kinds = (grids.declarations()[kind].values() for kind in grids.KINDS)
    experiments = {each.experiment for tables in kinds for each in tables}
    made = {p for (p, e), part in runs.places.items() if e in experiments and any(part["status"])}
    return ["paper", *sorted(made - {"paper"}, key=lambda name: (name != "clean", name))]


def _tables(runs: Runs, printed: Printed, protocol: str) -> Iterator[Table | Grid]:
    ours = protocol == "paper"
    for made in [grid(runs, name, protocol) for name in grids.declarations()["paper"]]:
        if ours or has_results(made):
            yield _beside_paper(runs, printed, made) if ours else made
    for name, beyond in grids.declarations()["beyond"].items():
        made = grid(runs, name, protocol)
        new = [m for m in beyond.methods if not runs.learners.get(m, {}).get("in_paper", True)]
        if matrix(made)[new or list(beyond.methods)].notna().any(axis=None):
            yield made
    own = [grids.own_grid(runs, each, protocol) for each in grids.declarations()["table"].values()]
    yield from (each for each in (*own, *grids.other_grids(runs, protocol)) if has_results(each))
    small = [
        intervals(runs, grid(runs, "test-f1-tuned", protocol)),
        intervals(runs, grid(runs, "test-f1-default", protocol)),
        summary(runs, protocol),
        ablation_summary(runs, protocol),
        penalty(runs, printed, protocol),
        *(hyperparameters(runs, printed, protocol, method) for method in TUNED_METHODS),
    ]
    small += [datasets(runs, printed)] if ours else []
    yield from (each for each in small if each is not None and len(each.frame))


def _beside_paper(runs: Runs, printed: Printed, made: Grid) -> Grid:
    """With printed cells, verdicts and stable trials; where none is printed, ours without rank."""
    made = with_verdicts(made, verdicts(runs, printed), printed)
    frame, caption = made.frame, made.caption
    if made.name in REFITTED:
        found = draws.stability(draws.refits(runs, "stability"), printed)
        if len(found):
            slugs = {name: slug for slug, name in printed.datasets["name"].items()}
            found = found.assign(dataset=found["Dataset"].map(slugs), method=draws.METHOD)
            found = found.rename(columns={"stable": "stable_trials", "trials": "refitted_trials"})
            columns = ["dataset", "method", "stable_trials", "refitted_trials"]
            frame = frame.merge(found[columns], on=["dataset", "method"], how="left")
    every = cells(runs, made.protocol, made.experiment, made.metric)
    seconds = cells(runs, made.protocol, "runtime", "wall_seconds")["mean"]
    for at in frame.index[frame["missing"].str.startswith("(")]:
        place = (frame.at[at, "dataset"], frame.at[at, "method"])
        frame.loc[at, ["mean", "std", "n"]] = every.loc[place, ["mean", "std", "n"]]
        here = f", here {seconds[place]:.0f} s" if place in seconds else ""
        told = f"{frame.at[at, 'paper_missing']} in the paper{here}"
        caption += f"; {runs.name(place[1])} on {runs.name(place[0])}: {told}"
    return replace(made, frame=frame, caption=caption)


def intervals(runs: Runs, of: Grid) -> Table:
    """Mean and MRR of every method with Student's intervals over datasets."""
    rows = []
    for task, method in product(TASKS, of.methods):
        values = {name: added(of, task, name)[method].dropna() for name in ("Mean", "MRR")}
        count = len(values["Mean"])
        if count >= stats.FEWEST_DATASETS:
            rows.append({"Method": runs.name(method), "Task": TASK_NAMES[task], "datasets": count})
            for name, own in values.items():
                found = stats.t_interval(own)._asdict()
                rows[-1] |= {f"{name}: {part}": value for part, value in found.items()}
    words = {"declared": "intervals", "title": of.title, "caption": of.caption}
    return table(f"{of.name}-intervals", pd.DataFrame(rows), str, of.protocol, **words)


def summary(runs: Runs, protocol: str) -> Table:
    """Table 3: tree size, train-test difference and MRR with default hyperparameters."""
    names = ("tree-size-tuned", "train-f1-tuned", "test-f1-tuned", "test-f1-default")
    size, train, test, default = (grid(runs, name, protocol) for name in names)
    gap = {task: added(train, task, "Mean") - added(test, task, "Mean") for task in TASKS}
    lines = {
        "Tree size": {task: added(size, task, "Mean") for task in TASKS},
        "Train-test difference": gap,
        "Default MRR": {task: added(default, task, "MRR") for task in TASKS},
    }
    frame = pd.DataFrame({"Method": [runs.name(method) for method in size.methods]})
    for name, task in product(lines, TASKS):
        values = [over_datasets(lines[name][task][m])["value"] for m in size.methods]
        frame[f"{name}: {TASK_NAMES[task]}"] = values
    return table("summary", frame, protocol=protocol)


def ablation_summary(runs: Runs, protocol: str) -> Table | None:
    """Table 4: mean test F1 of the ways to select the feature of a split."""
    made = {name: grid(runs, f"ablation-{name}", protocol) for name in ("default", "tuned")}
    if not any(has_results(each) for each in made.values()):
        return None
    methods = dict.fromkeys(method for each in made.values() for method in each.methods)
    names = {m: grids.declared("ablation-tuned").names.get(m, runs.name(m)) for m in methods}
    rows = []
    for (setting, each), task in product(made.items(), TASKS):
        own = each.summary[(each.summary["statistic"] == "Mean") & (each.summary["task"] == task)]
        line = own.set_index("method")["value"].reindex(list(methods)).rename(names)
        label = f"{setting.capitalize()}, {TASK_NAMES[task].lower()}"
        rows.append({"Setting": label, **line.to_dict()})
    beside = "; the last column is not in the paper" if len(methods) > 3 else ""
    return table("ablation-summary", pd.DataFrame(rows), protocol=protocol, beside=beside)


def penalty(runs: Runs, printed: Printed, protocol: str) -> Table | None:
    """GeneticTree with and without its complexity penalty, means over datasets."""
    variants = {"with penalty": ("tuned", "genetictree")}
    variants["without"] = ("no-penalty", "genetictree-no-penalty")
    frame = pd.DataFrame({"Task": list(TASK_NAMES.values())})
    metrics = {"Test F1": "test_f1", "Tree size": "tree_size"}
    for title, (variant, (experiment, method)) in product(metrics, variants.items()):
        means = cells(runs, protocol, experiment, metrics[title])["mean"]
        own = means.reindex([(slug, method) for slug in printed.datasets.index]).to_numpy()
        values = [over_datasets(own[printed.datasets["task"] == task])["value"] for task in TASKS]
        frame[f"{title}: {variant}"] = values
    if frame["Test F1: without"].isna().all():
        return None
    learner = runs.name("genetictree")
    return table("genetictree-penalty", frame, protocol=protocol, learner=learner)


def hyperparameters(runs: Runs, printed: Printed, protocol: str, method: str) -> Table | None:
    """Published values of every dataset and, where a search was run, ours (learners' own names)."""
    found = runs.winners[runs.winners["protocol"] == protocol]
    if protocol != "paper" and found.empty:
        return None
    found = found[found["method"] == method]
    published = printed.hyperparameters[method]
    frame = published.loc[[slug for slug in printed.datasets.index if slug in published.index]]
    if len(found):
        ours = pd.DataFrame([json.loads(text) for text in found["params"]], dtype=object)
        ours["cross-validated F1"], ours["candidates"] = [*found["score"]], [*found["trials"]]
        ours = ours[sorted(ours)].set_axis(found["dataset"])
        ours = ours.map(lambda v: f"{v:g}" if isinstance(v, float) and v == v else str(v))
        ours = ours.reindex(frame.index).add_prefix("Ours: ")
        frame = frame.add_prefix("Published: ").join(ours.astype(object).where(ours.notna(), None))
    frame.insert(0, "Dataset", printed.datasets["name"].reindex(frame.index))
    source = "published and found by our search" if len(found) else "as published"
    words = {"declared": "hyperparameters", "learner": runs.name(method), "source": source}
    return table(f"hyperparameters-{method}", frame, str, protocol, **words)


def datasets(runs: Runs, printed: Printed) -> Table:
    """One row per dataset; those that differ from their printed line are named in a note."""
    theirs = printed.datasets
    ours = [runs.datasets.get(slug, {}) for slug in theirs["slug"]]
    frame = pd.DataFrame(
        {
            "Dataset": theirs["name"],
            "Task": theirs["task"].map(TASK_NAMES),
            "Printed: features": theirs["n_features"],
            "Printed: rows": theirs["n_samples"],
            "Printed: rows by class": theirs["class_counts"],
            "Loaded: features": [f.get("n_features") for f in ours],
            "Loaded: rows": [f.get("n_rows") for f in ours],
            "Loaded: rows by class": ["/".join(map(str, f.get("class_counts", []))) for f in ours],
            "classes": theirs["n_classes"],
            "Source": theirs["source"],
        }
    )
    # the order of classes is no part of it: the paper mixes conventions
    ordered = frame.map(lambda value: sorted(value.split("/")) if "/" in str(value) else value)
    facts = ["features", "rows", "rows by class"]
    other = [ordered[f"Printed: {fact}"] != ordered[f"Loaded: {fact}"] for fact in facts]
    differing = frame["Dataset"][np.any(other, axis=0) & frame["Loaded: rows"].notna()]
    note = f"Not loaded as printed: {', '.join(differing)}."
    made = table("datasets", frame, protocol="paper")
    return replace(made, notes=(note,) if len(differing) else ())


QUESTIONS = {16: answer}
