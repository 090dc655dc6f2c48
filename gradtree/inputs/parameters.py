"""The parameters of the estimator: what is allowed, and what "auto" means for a task."""

from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

from joblib import effective_n_jobs
from sklearn.metrics import get_scorer_names
from sklearn.utils._param_validation import (
    Interval,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)

from gradtree.engines.streams import STREAMS
from gradtree.settings.config import (
    CHOICES,
    ENGINES,
    FIRST_THRESHOLDS,
    PROBABILITIES,
    FinishConfig,
    TrainConfig,
)
from gradtree.settings.losses import LOSS_NAMES, AnyLoss, CustomLoss, Loss
from gradtree.settings.selectors import SELECTORS, Selector
from gradtree.settings.splits import SPLITS
from gradtree.trees.costs import CRITERIA

# The authors' defaults that differ between two classes and more.
TWO_CLASSES: dict[str, Any] = {"lr_leaf": 0.005, "loss": "cross-entropy", "restarts": 5}
MORE_CLASSES: dict[str, Any] = {"lr_leaf": 0.05, "loss": "focal", "restarts": 3}

AUTO = StrOptions({"auto"})
COUNT = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")

CONSTRAINTS: dict[str, tuple[Any, ...]] = {
    "depth": (AUTO, COUNT),
    **dict.fromkeys(("batch_size", "epochs", "patience"), (COUNT,)),
    **dict.fromkeys(("max_depth", "max_row_visits", "max_leaf_nodes"), (COUNT, None)),
    **dict.fromkeys(("lr_index", "lr_values", "steepness"), (POSITIVE,)),
    **dict.fromkeys(("leaf_smoothing", "tolerance"), (NOT_NEGATIVE,)),
    **dict.fromkeys(("refit_leaves", "polish"), ("boolean",)),
    "lr_leaf": (AUTO, POSITIVE),
    "ccp_alpha": (AUTO, NOT_NEGATIVE),
    "loss": (StrOptions({"auto", *LOSS_NAMES}), Loss, CustomLoss, callable),
    "quantile": (Interval(Real, 0, 1, closed="neither"),),
    "delta": (POSITIVE,),
    "gamma": (Interval(Real, 1, None, closed="left"),),
    "poly_epsilon": (Interval(Real, None, None, closed="neither"), None),
    "selector": (StrOptions(set(SELECTORS)), Selector),
    "split": (StrOptions(set(SPLITS)),),
    "first_thresholds": (StrOptions(set(FIRST_THRESHOLDS)),),
    "choose_by": (StrOptions({"auto", *CHOICES, *get_scorer_names()}), callable),
    "probabilities": (StrOptions(set(PROBABILITIES)),),
    "min_samples_leaf": (COUNT, Interval(RealNotInt, 0, 1, closed="neither")),
    "merge_leaves": (StrOptions({"alike"}), "boolean"),
    "criterion": (StrOptions(set(CRITERIA)),),
    "n_jobs": (COUNT, Interval(Integral, None, -1, closed="right"), None),
    "restarts": (AUTO, Interval(Integral, 0, None, closed="left")),
    "validation_fraction": (Interval(Real, 0, 1, closed="left"),),
    "scale": (StrOptions({"quantile", "standard"}), None),
    "engine": (StrOptions(set(ENGINES)),),
    "stream": (StrOptions(set(STREAMS)),),
    "dtype": (StrOptions({"float32", "float64"}),),
    "verbose": ("verbose",),
}
"""What each parameter may be, in the terms of scikit-learn."""

# Defaults of the estimator that a loss of one's own changes: it names all costs itself.
USUAL: dict[str, Any] = {"class_weight": "sqrt-balanced", "choose_by": "f1_macro"}
WITH_OWN_LOSS: dict[str, Any] = {"class_weight": None, "choose_by": "loss"}
# Without weights, a rare class is predicted nowhere, and F1 cannot tell one tree from another.
UNWEIGHTED: dict[str, Any] = {"choose_by": "neg_log_loss"}


def settled(params: Mapping[str, Any], n_classes: int) -> dict[str, Any]:
    """The parameters, with ``"auto"`` and other names of one thing made plain."""
    plain = dict(params)
    loss = params["loss"]
    auto = WITH_OWN_LOSS if callable(loss) or isinstance(loss, CustomLoss) else USUAL
    if params["class_weight"] is None and auto is USUAL:
        auto = UNWEIGHTED
    # Every class needs leaves of its own.
    size = {"depth": 7 if n_classes <= 2 else 9, "ccp_alpha": 0.03 / max(n_classes, 2)}
    for name, value in (auto | size).items():
        if isinstance(params[name], str) and params[name] == "auto":
            plain[name] = value
    if params["max_depth"] is not None:
        plain["depth"] = params["max_depth"]
    return plain


def check_parameters(params: Mapping[str, Any], estimator: str = "GradTreeClassifier") -> None:
    """Raise ``ValueError`` for the first parameter that makes no sense."""
    flags = [n for n, allowed in CONSTRAINTS.items() if {"boolean", "verbose"} & {*allowed}]
    # To scikit-learn True is a number; what people mean by depth=True nobody knows.
    given = {n: str(v) if isinstance(v, bool) and n not in flags else v for n, v in params.items()}
    validate_parameter_constraints(CONSTRAINTS, given, estimator)


def train_config(params: Mapping[str, Any], n_classes: int, seed: int) -> TrainConfig:
    """The settings of a training, with ``"auto"`` replaced by the authors' default for the task."""
    task = TWO_CLASSES if n_classes == 2 else MORE_CLASSES
    auto = {name: task[name] for name in ("lr_leaf", "restarts") if params[name] == "auto"}
    others = {"smoothing": params["leaf_smoothing"], "n_jobs": effective_n_jobs(params["n_jobs"])}
    given = {**params, **auto, **others, "loss": _loss(params, task), "seed": seed}
    return TrainConfig(**_declared(TrainConfig, given))


def finish_config(params: Mapping[str, Any]) -> FinishConfig:
    """What is made of the trained tree."""
    others = {"smoothing": params["leaf_smoothing"], "loss": _own_loss(params["loss"])}
    return FinishConfig(**_declared(FinishConfig, {**params, **others}))


def _declared(config: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that a configuration has, as plain numbers of the types it declares."""
    types = {"int": int, "float": float, "bool": bool}
    plain: dict[str, Any] = {}
    for one in fields(config):
        if one.name in given:
            value, declared = given[one.name], types.get(str(one.type).removesuffix(" | None"))
            plain[one.name] = value if value is None or declared is None else declared(value)
    return plain


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
