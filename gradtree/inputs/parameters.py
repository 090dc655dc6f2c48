"""The parameters of the estimator: what is allowed, and what "auto" means for a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

from gradtree.training.config import TrainConfig
from gradtree.training.losses import AnyLoss, CustomLoss, Loss
from gradtree.training.selectors import Selector

# The authors' defaults that differ between two classes and more.
TWO_CLASSES: dict[str, Any] = {"lr_leaf": 0.005, "loss": "cross-entropy", "restarts": 5}
MORE_CLASSES: dict[str, Any] = {"lr_leaf": 0.05, "loss": "focal", "restarts": 3}

LOSS_NAMES = {
    "cross-entropy": "cross-entropy",
    "crossentropy": "cross-entropy",
    "log_loss": "cross-entropy",
    "focal": "focal",
}


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


def _is_one_of(*names: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in names


def _or_auto(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: (isinstance(value, str) and value == "auto") or check(value)


def _is_loss(value: Any) -> bool:
    if isinstance(value, str):
        return value == "auto" or value in LOSS_NAMES
    return isinstance(value, Loss | CustomLoss) or callable(value)


RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "depth": (_is_whole(1), "a whole number, at least 1 (the levels of splits)"),
    "lr_index": (_is_number(0, True), "a positive number"),
    "lr_values": (_is_number(0, True), "a positive number"),
    "lr_leaf": (_or_auto(_is_number(0, True)), "'auto' or a positive number"),
    "loss": (
        _is_loss,
        "'auto', 'cross-entropy', 'focal', or a loss of your own (see gradtree.CustomLoss)",
    ),
    "gamma": (_is_number(1, False), "a number, at least 1"),
    "poly_epsilon": (
        lambda value: value is None or _is_number(-float("inf"), True)(value),
        "None or a number",
    ),
    "selector": (
        lambda value: (
            isinstance(value, Selector) or _is_one_of("entmax", "gumbel", "annealed")(value)
        ),
        "'entmax', 'gumbel', 'annealed' or a gradtree.Selector",
    ),
    "batch_size": (_is_whole(1), "a whole number, at least 1"),
    "epochs": (_is_whole(1), "a whole number, at least 1"),
    "patience": (_is_whole(1), "a whole number, at least 1"),
    "restarts": (_or_auto(_is_whole(0)), "'auto' or a whole number, at least 0"),
    "validation_fraction": (
        lambda value: _is_number(0, False)(value) and value < 1,
        "a number from 0 (stop by the training loss) to below 1",
    ),
    "scale": (
        lambda value: value is None or _is_one_of("quantile", "standard")(value),
        "'quantile', 'standard' or None (columns as they are)",
    ),
    "engine": (_is_one_of("compiled", "tensorflow"), "'compiled' or 'tensorflow'"),
    "stream": (_is_one_of("numpy", "authors"), "'numpy' or 'authors'"),
    "dtype": (_is_one_of("float32", "float64"), "'float32' or 'float64'"),
    "verbose": (
        lambda value: isinstance(value, bool) or _is_whole(0)(value),
        "0 (silent) or 1 (progress bar)",
    ),
}


def check_parameters(params: Mapping[str, Any]) -> None:
    """Raise ``ValueError`` for the first parameter that makes no sense."""
    for name, (allowed, wanted) in RULES.items():
        if name in params and not allowed(params[name]):
            raise ValueError(f"{name}={params[name]!r} is not possible; {name} must be {wanted}")


def train_config(params: Mapping[str, Any], n_classes: int, seed: int) -> TrainConfig:
    """The settings of a training, with ``"auto"`` replaced by the authors' default for the task."""
    task = TWO_CLASSES if n_classes == 2 else MORE_CLASSES
    settled = {k: task[k] if params[k] == "auto" else params[k] for k in ("lr_leaf", "restarts")}
    return TrainConfig(
        depth=int(params["depth"]),
        lr_index=float(params["lr_index"]),
        lr_values=float(params["lr_values"]),
        lr_leaf=float(settled["lr_leaf"]),
        loss=_loss(params, task),
        selector=params["selector"],
        batch_size=int(params["batch_size"]),
        epochs=int(params["epochs"]),
        patience=int(params["patience"]),
        restarts=int(settled["restarts"]),
        average_weights=bool(params["average_weights"]),
        engine=params["engine"],
        stream=params["stream"],
        seed=seed,
        dtype=params["dtype"],
    )


def _loss(params: Mapping[str, Any], task: Mapping[str, Any]) -> AnyLoss:
    given = params["loss"]
    if isinstance(given, Loss | CustomLoss):
        return given
    if not isinstance(given, str):
        return CustomLoss(given)
    kind = LOSS_NAMES[task["loss"] if given == "auto" else given]
    epsilon = params["poly_epsilon"]
    return Loss(kind, float(params["gamma"]), None if epsilon is None else float(epsilon))  # type: ignore[arg-type]
