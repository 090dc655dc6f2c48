"""Any other metric of stored predictions, without a fit."""

import inspect
import math
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis.answer import Declared, Grid
from experiments.analysis.grids import own_grid
from experiments.analysis.runs import Runs, Source
from experiments.errors import UserError, did_you_mean
from experiments.runs import archive
from experiments.runs.archive import Prediction
from experiments.runs.schema import METRICS, Column

PROBABILITIES = ("y_score", "y_proba", "y_prob")
"""What scikit-learn calls an argument that takes probabilities."""
OF_ALL_CLASSES = ("log_loss", "d2_log_loss_score", "d2_brier_score")
"""Metrics that take the probabilities of all classes, of two as well; some say ``y_pred``."""


def find(name: str, options: Mapping[str, Any], plugins: Mapping[str, Column]) -> Column:
    """A score of the table of runs, a plug-in's metric or a function of ``sklearn.metrics``; what
    is no column is scored from the test rows and the number of classes.
    """
    from sklearn import metrics

    if name in {**METRICS, **plugins} and options:
        raise UserError(f"{name} is no function of scikit-learn and takes no options")
    if name in METRICS:
        return METRICS[name]
    if name in plugins:
        own: Any = plugins[name].score

        def score(rows: Prediction, n_classes: int) -> float | None:
            return None if rows.proba is None else float(own(rows.truth, rows.proba))

        return replace(plugins[name], score=score)
    function = None if name.startswith("_") else getattr(metrics, name, None)
    if not callable(function) or inspect.isclass(function):
        known = [each for each in dir(metrics) if each.endswith(("score", "loss", "coef"))]
        near = did_you_mean(name, [*METRICS, *plugins, *known])
        raise UserError(f"unknown metric {name!r}; {near}")
    kind = function.__module__.rpartition(".")[2]
    if kind not in ("_classification", "_ranking", "_regression"):
        raise UserError(f"{name} compares clusters or distances, not predictions")
    numbers, less = kind == "_regression", name.endswith(("loss", "error", "deviance"))
    by, words = _scorer(name, function, options), name.replace("_", " ")
    how: Any = {"better": "low" if less else "high", "score": by, "of_numbers": numbers}
    found, problem = Column(name, float, "score", words, in_tables=words, **how), ""
    for n_classes in (0,) if numbers else (2, 3):
        truth = np.arange(1.0, 13.0) if numbers else np.arange(12) % n_classes
        share = None if numbers else np.eye(n_classes)[truth] * 0.8 + 0.2 / n_classes
        problem = _scored(found, Prediction(truth, truth, share), n_classes)[1]
        if not problem:
            return found
    of = "numbers" if numbers else "classes or probabilities"
    raise UserError(f"{name} gives no score of {of}: {problem}")


def _scorer(
    name: str, function: Callable[..., Any], options: Mapping[str, Any]
) -> Callable[[Prediction, int], float | None]:
    """The function with the arguments that a dataset of so many classes needs."""
    parameters = inspect.signature(function).parameters
    second = list(parameters)[1]
    if second == "pred_decision":
        raise UserError(f"{name} needs decision values; only classes and probabilities are stored")
    if unknown := [each for each in options if each not in parameters]:
        raise UserError(f"{name} has no option {unknown[0]!r}; it has {', '.join(parameters)}")
    usual = {"average": "macro", "zero_division": 0}
    given: dict[str, Any] = {each: usual[each] for each in usual if each in parameters}
    takes_proba = second in PROBABILITIES or name in OF_ALL_CLASSES

    def score(rows: Prediction, n_classes: int) -> float | None:
        answers, more = rows.predicted, dict(given)
        if takes_proba:
            if rows.proba is None:
                return None
            answers = rows.proba / rows.proba.sum(axis=1, keepdims=True)
            if n_classes == 2 and name not in OF_ALL_CLASSES:
                answers = answers[:, 1]
            elif "multi_class" in parameters:
                more["multi_class"] = "ovr"
            if "labels" in parameters and (answers.ndim == 2 or name == "top_k_accuracy_score"):
                more["labels"] = range(n_classes)
        value = function(rows.truth, answers, **{**more, **options})
        if np.ndim(value) != 0:
            raise TypeError(f"it gives {type(value).__name__}, not one number")
        return None if math.isnan(value) else float(value)

    return score


def _scored(metric: Column, rows: Prediction | None, n_classes: int) -> tuple[float | None, str]:
    """The score of one run, or why there is none."""
    if rows is None or metric.score is None:
        return None, "no predictions are kept"
    if rows.of_numbers != metric.of_numbers:
        return None, f"it compares {'numbers' if metric.of_numbers else 'classes'}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of classes that a small test part lacks
            value = metric.score(rows, n_classes)
    except Exception as problem:  # whatever a metric says of what it was given
        return None, str(problem).split("\n")[0] or type(problem).__name__
    if value is None:
        return None, "no probabilities are kept" if rows.proba is None else "it is undefined"
    return value, ""


def scored(
    runs: Runs, rows: pd.DataFrame, metric: Column, folders: Sequence[Path]
) -> tuple[pd.DataFrame, Mapping[str, int]]:
    """Runs with a metric of stored predictions, and how many lack it for which reason."""
    if metric.score is None:
        return rows, {}
    sources = [Source(each) for each in folders]
    why, values = Counter[str](), {}
    good = rows[rows["status"] == "ok"]
    for key, dataset, extra in good[["key", "dataset", "extra"]].itertuples(index=False):
        classes = len(runs.datasets[dataset]["class_counts"])
        kept = (found for each in sources if (found := each.predicted(key)) is not None)
        values[key], reason = _scored(metric, next(kept, None), classes)
        why.update([archive.why_no_probabilities(extra) or reason] if reason else [])
    return rows.assign(**{metric.name: rows["key"].map(values).astype(float)}), why


def measure(
    runs: Runs, metric: Column, protocol: str, experiment: str
) -> tuple[Grid, Mapping[str, int]]:
    """The table of a metric over one experiment, and how many runs lack it for which reason."""
    rows, why = scored(runs, runs.of(protocol, experiment), metric, [runs.store])
    table = Declared(
        name=f"{experiment}-{metric.name}".replace("_", "-"),
        title=f"{metric.name.replace('_', ' ')}, {experiment}",
        experiment=experiment,
        metric=metric.name,
        smaller_is_better=metric.better == "low",
    )
    return own_grid(replace(runs, frame=rows), table, protocol), why
