"""The parameters of the estimator: what is allowed, and what "auto" means for a task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.metrics import get_scorer_names

from gradtree.engines.streams import STREAMS
from gradtree.settings.config import (
    CHOICES,
    ENGINES,
    FIRST_THRESHOLDS,
    PROBABILITIES,
    FinishConfig,
    TrainConfig,
)
from gradtree.settings.losses import LOSS_NAMES, LOSSES, AnyLoss, CustomLoss, Loss
from gradtree.settings.selectors import SELECTORS, Selector
from gradtree.settings.splits import SPLITS
from gradtree.trees.costs import CRITERIA

# The authors' defaults that differ between two classes and more.
TWO_CLASSES: dict[str, Any] = {"lr_leaf": 0.005, "loss": "cross-entropy", "restarts": 5}
MORE_CLASSES: dict[str, Any] = {"lr_leaf": 0.05, "loss": "focal", "restarts": 3}


def _is_whole(minimum: int) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= minimum
    )


def _is_number(minimum: float, strict: bool) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        number = float(value)
        return number < float("inf") and (number > minimum if strict else number >= minimum)

    return check


def _is_one_of(names: Iterable[str]) -> Callable[[Any], bool]:
    known = frozenset(names)
    return lambda value: isinstance(value, str) and value in known


def _one_of(names: Iterable[str]) -> tuple[Callable[[Any], bool], str]:
    return _is_one_of(names), _either(names)


def _either(names: Iterable[str], *others: str) -> str:
    """Names as an error message lists them."""
    *most, last = [*(repr(name) for name in names), *others]
    return f"{', '.join(most)} or {last}" if most else last


def _or_none(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _or_auto(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: (isinstance(value, str) and value == "auto") or check(value)


def _is_loss(value: Any) -> bool:
    if isinstance(value, str):
        return value == "auto" or value in LOSS_NAMES
    return isinstance(value, Loss | CustomLoss) or callable(value)


RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "depth": (_is_whole(1), "a whole number, at least 1 (the levels of splits)"),
    "max_depth": (_or_none(_is_whole(1)), "None or a whole number, at least 1"),
    "lr_index": (_is_number(0, True), "a positive number"),
    "lr_values": (_is_number(0, True), "a positive number"),
    "lr_leaf": (_or_auto(_is_number(0, True)), "'auto' or a positive number"),
    "loss": (
        _is_loss,
        _either(("auto", *LOSSES), "a loss of your own (see gradtree.CustomLoss)"),
    ),
    "gamma": (_is_number(1, False), "a number, at least 1"),
    "poly_epsilon": (
        _or_none(_is_number(-float("inf"), True)),
        "None or a number",
    ),
    "selector": (
        lambda value: isinstance(value, Selector) or _is_one_of(SELECTORS)(value),
        _either(SELECTORS, "a gradtree.Selector"),
    ),
    "split": _one_of(SPLITS),
    "steepness": (_is_number(0, True), "a positive number"),
    "first_thresholds": _one_of(FIRST_THRESHOLDS),
    "round_to_validation": (_is_flag, "True or False"),
    "batch_size": (_is_whole(1), "a whole number, at least 1"),
    "epochs": (_is_whole(1), "a whole number, at least 1"),
    "patience": (_is_whole(1), "a whole number, at least 1"),
    "max_row_visits": (_or_none(_is_whole(1)), "None or a whole number, at least 1"),
    "choose_by": (
        lambda value: callable(value) or _is_one_of((*CHOICES, *get_scorer_names()))(value),
        _either(("auto", *CHOICES), "a scorer of scikit-learn's, by name or itself"),
    ),
    "refit_leaves": (_is_flag, "True or False"),
    "leaf_smoothing": (_is_number(0, False), "a number, at least 0"),
    "probabilities": _one_of(PROBABILITIES),
    "min_samples_leaf": (
        lambda value: _is_whole(1)(value) or (_is_number(0, True)(value) and value < 1),
        "a whole number of rows, at least 1, or a share of them, below 1",
    ),
    "merge_leaves": (
        lambda value: _is_flag(value) or _is_one_of(("alike",))(value),
        "'alike' (where shares do not differ), True (where one class is predicted) or False",
    ),
    "polish": (_is_flag, "True or False"),
    "tolerance": (_is_number(0, False), "a number, at least 0"),
    "criterion": _one_of(CRITERIA),
    "ccp_alpha": (_is_number(0, False), "a number, at least 0"),
    "max_leaf_nodes": (_or_none(_is_whole(1)), "None or a whole number, at least 1"),
    "n_jobs": (
        lambda value: value is None or (_is_whole(-(2**31))(value) and value != 0),
        "None, a number of threads, or -1 for as many as there are processors",
    ),
    "restarts": (_or_auto(_is_whole(0)), "'auto' or a whole number, at least 0"),
    "validation_fraction": (
        lambda value: _is_number(0, False)(value) and value < 1,
        "a number from 0 (stop by the training loss) to below 1",
    ),
    "scale": (
        _or_none(_is_one_of(("quantile", "standard"))),
        "'quantile', 'standard' or None (columns as they are)",
    ),
    "engine": _one_of(ENGINES),
    "stream": _one_of(STREAMS),
    "dtype": _one_of(("float32", "float64")),
    "verbose": (
        lambda value: isinstance(value, bool) or _is_whole(0)(value),
        "0 (silent) or 1 (progress bar)",
    ),
}


# Defaults of the estimator that a loss of one's own changes: it names all costs itself.
USUAL: dict[str, Any] = {"class_weight": "sqrt-balanced", "choose_by": "f1_macro"}
WITH_OWN_LOSS: dict[str, Any] = {"class_weight": None, "choose_by": "loss"}
# Without weights, a rare class is predicted nowhere, and F1 cannot tell one tree from another.
UNWEIGHTED: dict[str, Any] = {"choose_by": "neg_log_loss"}


def settled(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, with ``"auto"`` and other names of one thing made plain."""
    plain = dict(params)
    loss = params["loss"]
    auto = WITH_OWN_LOSS if callable(loss) or isinstance(loss, CustomLoss) else USUAL
    if params["class_weight"] is None and auto is USUAL:
        auto = UNWEIGHTED
    for name, value in auto.items():
        if isinstance(params[name], str) and params[name] == "auto":
            plain[name] = value
    if params["max_depth"] is not None:
        plain["depth"] = params["max_depth"]
    return plain


def check_parameters(params: Mapping[str, Any]) -> None:
    """Raise ``ValueError`` for the first parameter that makes no sense."""
    for name, (allowed, wanted) in RULES.items():
        if name in params and not allowed(params[name]):
            raise ValueError(f"{name}={params[name]!r} is not possible; {name} must be {wanted}")


def train_config(params: Mapping[str, Any], n_classes: int, seed: int) -> TrainConfig:
    """The settings of a training, with ``"auto"`` replaced by the authors' default for the task."""
    task = TWO_CLASSES if n_classes == 2 else MORE_CLASSES
    visits = params["max_row_visits"]
    settled = {k: task[k] if params[k] == "auto" else params[k] for k in ("lr_leaf", "restarts")}
    return TrainConfig(
        depth=int(params["depth"]),
        lr_index=float(params["lr_index"]),
        lr_values=float(params["lr_values"]),
        lr_leaf=float(settled["lr_leaf"]),
        loss=_loss(params, task),
        selector=params["selector"],
        split=params["split"],
        steepness=float(params["steepness"]),
        first_thresholds=params["first_thresholds"],
        round_to_validation=bool(params["round_to_validation"]),
        batch_size=int(params["batch_size"]),
        epochs=int(params["epochs"]),
        patience=int(params["patience"]),
        max_row_visits=None if visits is None else int(visits),
        choose_by=params["choose_by"],
        smoothing=float(params["leaf_smoothing"]),
        tolerance=float(params["tolerance"]),
        restarts=int(settled["restarts"]),
        average_weights=bool(params["average_weights"]),
        engine=params["engine"],
        stream=params["stream"],
        seed=seed,
        dtype=params["dtype"],
        n_jobs=effective_n_jobs(params["n_jobs"]),
    )


def finish_config(params: Mapping[str, Any]) -> FinishConfig:
    """What is made of the trained tree."""
    leaves = params["max_leaf_nodes"]
    return FinishConfig(
        refit_leaves=bool(params["refit_leaves"]),
        smoothing=float(params["leaf_smoothing"]),
        probabilities=params["probabilities"],
        loss=_own_loss(params["loss"]),
        min_samples_leaf=float(params["min_samples_leaf"]),
        merge_leaves="alike" if params["merge_leaves"] == "alike" else bool(params["merge_leaves"]),
        polish=bool(params["polish"]),
        criterion=params["criterion"],
        ccp_alpha=float(params["ccp_alpha"]),
        max_leaf_nodes=None if leaves is None else int(leaves),
    )


def _own_loss(given: Any) -> CustomLoss | None:
    """A loss of the user's, ``None`` if it is a built-in one."""
    if isinstance(given, str | Loss):
        return None
    return given if isinstance(given, CustomLoss) else CustomLoss(given)


def _loss(params: Mapping[str, Any], task: Mapping[str, Any]) -> AnyLoss:
    given = params["loss"]
    if isinstance(given, Loss):
        return given
    own = _own_loss(given)
    if own is not None:
        return own
    kind = LOSS_NAMES[task["loss"] if given == "auto" else given]
    epsilon = params["poly_epsilon"]
    return Loss(kind, float(params["gamma"]), None if epsilon is None else float(epsilon))
