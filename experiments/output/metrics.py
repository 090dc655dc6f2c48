"""Any other metric of stored predictions, without a fit."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from experiments.analysis.answer import Grid
from experiments.analysis.declared import Declared
from experiments.analysis.grids import own_grid
from experiments.analysis.runs import Runs
from experiments.errors import UserError, did_you_mean
from experiments.runner import predictions
from experiments.runner.predictions import Prediction
from experiments.runs.schema import BY_NAME, METRICS
from experiments.runs.store import FILE, Store

PROBABILITIES = ("y_score", "y_proba", "y_prob", "y_pred_proba")
"""What scikit-learn calls an argument that takes probabilities; ``log_loss`` says ``y_pred``."""
OF_PROBABILITIES = ("log_loss", "d2_log_loss_score", "d2_brier_score")


@dataclass(frozen=True)
class Metric:
    """A number from the test rows of one run; ``None`` where the run has no such number."""

    name: str
    better: Literal["high", "low"]
    score: Callable[[Prediction, int], float | None]


def find(name: str, options: Mapping[str, Any], plugins: Mapping[str, Any]) -> Metric:
    """A plug-in's metric or a function of ``sklearn.metrics``; ``UserError`` says why not."""
    from sklearn import metrics

    if name in plugins and plugins[name].function is not None:
        function = plugins[name].function

        def own(rows: Prediction, n_classes: int) -> float | None:
            return None if rows.proba is None else float(function(rows.truth, rows.proba))

        return Metric(name, plugins[name].better, own)
    function = None if name.startswith("_") else getattr(metrics, name, None)
    if not callable(function) or inspect.isclass(function):
        known = [each for each in dir(metrics) if each.endswith(("score", "loss"))]
        raise UserError(f"unknown metric {name!r}; {did_you_mean(name, [*plugins, *known])}")
    kind = function.__module__.rpartition(".")[2]
    if kind not in ("_classification", "_ranking"):
        raise UserError(
            f"{name} compares {'numbers' if kind == '_regression' else 'clusters or distances'}, "
            "not classes; metrics of classes are in scikit-learn's list of classification metrics"
        )
    found = Metric(name, _direction(name), _scorer(name, function, options))
    problems = [problem for n in (2, 3) if (problem := _problem(found, n))]
    if len(problems) == 2:
        raise UserError(f"{name} does not score classes or probabilities: {problems[-1]}")
    return found


def _direction(name: str) -> Literal["high", "low"]:
    return "low" if name.endswith(("loss", "error")) else "high"


def _scorer(
    name: str, function: Callable[..., Any], options: Mapping[str, Any]
) -> Callable[[Prediction, int], float | None]:
    """The function with the arguments that a dataset of so many classes needs."""
    parameters = inspect.signature(function).parameters
    second = list(parameters)[1]
    takes_proba = second in PROBABILITIES or name in OF_PROBABILITIES
    if second == "pred_decision":
        raise UserError(f"{name} needs decision values; only classes and probabilities are stored")
    if unknown := [each for each in options if each not in parameters]:
        raise UserError(f"{name} has no option {unknown[0]!r}; it has {', '.join(parameters)}")

    def score(rows: Prediction, n_classes: int) -> float | None:
        given: dict[str, Any] = {}
        if "average" in parameters and name != "matthews_corrcoef":
            given["average"] = "macro"
        if "zero_division" in parameters:
            given["zero_division"] = 0
        if not takes_proba:
            value = function(rows.truth, rows.predicted, **{**given, **options})
            return _one_number(name, value)
        if rows.proba is None:
            return None
        if "labels" in parameters:
            given["labels"] = range(n_classes)
        if "multi_class" in parameters:
            given["multi_class"] = "ovr"
        share = rows.proba / rows.proba.sum(axis=1, keepdims=True)
        if n_classes == 2 and name not in OF_PROBABILITIES:
            share = share[:, 1]
            given.pop("multi_class", None)
            if name != "top_k_accuracy_score":
                given.pop("labels", None)
        return _one_number(name, function(rows.truth, share, **{**given, **options}))

    return score


def _one_number(name: str, value: Any) -> float | None:
    if np.ndim(value) != 0:
        raise TypeError(f"it gives {type(value).__name__}, not one number")
    return None if math.isnan(value) else float(value)


def _problem(metric: Metric, n_classes: int) -> str:
    """Why a metric cannot score so many classes; empty if it can."""
    truth = np.arange(12) % n_classes
    proba = np.full((12, n_classes), 0.2 / n_classes)
    proba[np.arange(12), truth] += 0.8
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            metric.score(Prediction(truth, truth, proba), n_classes)
    except Exception as problem:
        return str(problem).split("\n")[0]
    return ""


@dataclass(frozen=True)
class Measured:
    """A table of a metric; how many runs are scored, of how many; why some are not."""

    grid: Grid
    scored: int
    successful: int
    reasons: Mapping[str, int]


def measure(
    runs: Runs, metric: Metric | str, protocol: str, experiment: str, title: str = ""
) -> Measured:
    """The table of a metric over one experiment; a column of the table of runs needs no fit."""
    frame, reasons = runs.frame, pd.Series(dtype=object)
    rows = runs.of(protocol, experiment)
    good = rows[rows["status"] == "ok"]
    if isinstance(metric, Metric):
        name, smaller = metric.name, metric.better == "low"
        values, why = _values(runs, good, metric)
        frame = rows.assign(**{name: rows["key"].map(values).astype(float)})
        reasons = pd.Series(list(why.values()), dtype=object).value_counts()
    else:
        name, smaller = metric, BY_NAME[metric].better == "low"
    table = Declared(
        name=f"{experiment}-{name}".replace("_", "-"),
        title=title or f"{name.replace('_', ' ')}, {experiment}",
        experiment=experiment,
        metric=name,
        smaller_is_better=smaller,
    )
    grid = own_grid(replace(runs, frame=frame), table, protocol)
    return Measured(grid, int(grid.frame["n"].sum()), len(good), reasons.to_dict())


def _values(
    runs: Runs, good: pd.DataFrame, metric: Metric
) -> tuple[dict[str, float], dict[str, str]]:
    """The metric by key, and by key why there is none."""
    source = Store(runs.store) if (runs.store / FILE).is_file() else runs.store
    values: dict[str, float] = {}
    why: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes that a small test part lacks
        for key, dataset in zip(good["key"], good["dataset"], strict=True):
            kept = predictions.of(source, key)
            if kept is None:
                why[key] = "no predictions are kept"
                continue
            classes = len(runs.datasets.get(dataset, {}).get("class_counts") or ())
            classes = classes or int(max(kept.truth.max(), kept.predicted.max())) + 1
            try:
                value = metric.score(kept, classes)
            except Exception as problem:
                why[key] = str(problem).split("\n")[0]
                continue
            if value is None:
                why[key] = "no probabilities are kept" if kept.proba is None else "undefined"
            else:
                values[key] = value
    return values, why


__all__ = ["METRICS", "Measured", "Metric", "find", "measure"]
