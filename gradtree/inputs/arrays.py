"""Reading what users pass to the estimator, with errors that say what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite, column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, validate_data

FLOATS = [np.float64, np.float32]
POWERS = {"sqrt-balanced": 0.5}


def read_rows(estimator: BaseEstimator, X: Any, *, reset: bool, min_rows: int = 1) -> NDArray[Any]:
    """A finite matrix of ``float32`` or ``float64``, not copied if it is one already."""
    try:
        return np.asarray(
            validate_data(estimator, X, reset=reset, dtype=FLOATS, ensure_min_samples=min_rows)
        )
    except ValueError as error:
        remedy = _remedy(X, str(error))
        raise ValueError(f"{error}{remedy}") from error


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """What to train on.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        As given, apart from rows of weight zero.
    y : ndarray of int64, shape (n_rows,)
        Class indices.
    weight : ndarray of shape (n_rows,) or None
        Sample weights times class weights.
    classes : ndarray of shape (n_classes,)
        The labels that ``y`` points to.
    class_weight : ndarray of shape (n_classes,) or None
    """

    X: NDArray[Any]
    y: NDArray[np.int64]
    weight: NDArray[np.float64] | None
    classes: NDArray[Any]
    class_weight: NDArray[np.float64] | None


def read_training_rows(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    classes: Any,
    *,
    reset: bool,
    streamed: bool = False,
) -> TrainingRows:
    """Check rows, labels and weights; learn names of columns and classes if ``reset``.

    Rows that are ``streamed`` tell nothing of the shares of classes.
    """
    if y is None:
        # scikit-learn words this error itself.
        validate_data(estimator, X, y, reset=reset)
    rows = read_rows(estimator, X, reset=reset, min_rows=2 if reset else 1)
    labels = read_labels(y, "y")
    check_consistent_length(rows, labels)
    weight = _weights(sample_weight, rows)
    if weight is not None and not weight.all():
        used = np.flatnonzero(weight)
        rows, labels, weight = rows[used], labels[used], weight[used]
    known = read_classes(labels, classes)
    codes = class_indices(labels, known, "y")
    by_class = class_weights(estimator.class_weight, labels, known, streamed)
    if by_class is not None:
        weight = by_class[codes] if weight is None else weight * by_class[codes]
    return TrainingRows(rows, codes, weight, known, by_class)


def read_labels(y: Any, name: str) -> NDArray[Any]:
    """A vector of class labels."""
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name=name)
    check_classification_targets(labels)
    return np.asarray(labels)


def as_training_type(X: NDArray[Any], dtype: str) -> NDArray[Any]:
    """The rows in the precision of training, row by row in memory."""
    with np.errstate(over="ignore"):
        rows = np.ascontiguousarray(X, dtype=dtype)
    if rows.dtype.itemsize < X.dtype.itemsize and not np.isfinite(rows.sum(dtype=np.float64)):
        raise ValueError(
            f"X has numbers beyond the range of {dtype}, in which the tree is trained; "
            "scale the columns first, for example with sklearn.preprocessing.QuantileTransformer"
        )
    # The engine would be compiled anew for read-only rows, such as memory maps.
    return rows if rows.flags.writeable else rows.copy()


def read_classes(y: NDArray[Any], classes: Any = None) -> NDArray[Any]:
    """All class labels, sorted: those given, or those that occur."""
    present = np.unique(y)
    if classes is None:
        known = present
    else:
        known = np.unique(np.asarray(classes))
        if not np.isin(present, known).all():
            strangers = present[~np.isin(present, known)].tolist()
            raise ValueError(f"y has labels that are not in classes: {strangers}")
    if len(known) < 2:
        raise ValueError(
            f"y has only one class, {known.tolist()}: a classifier needs rows of at least two "
            "classes; check how the labels were selected"
        )
    return known


def class_indices(y: NDArray[Any], classes: NDArray[Any], name: str) -> NDArray[np.int64]:
    """Positions of labels among the sorted classes."""
    places = np.searchsorted(classes, y)
    places[places == len(classes)] = 0
    unknown = np.unique(y[classes[places] != y]).tolist()
    if unknown:
        raise ValueError(
            f"{name} has classes that the training rows do not have: {unknown}; take these rows "
            "out, or name all classes with fit(..., classes=[...])"
        )
    return places.astype(np.int64)


def _weights(sample_weight: Any, X: NDArray[Any]) -> NDArray[np.float64] | None:
    """Weight of every row, ``None`` if there are none."""
    if sample_weight is None:
        return None
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weight.any():
        raise ValueError("all sample weights are zero; at least some rows need a positive weight")
    return np.asarray(weight)


def class_weights(
    class_weight: Any, y: NDArray[Any], classes: NDArray[Any], streamed: bool = False
) -> NDArray[np.float64] | None:
    """Weight of every class; 1 for those that ``y`` lacks.

    A number ``p`` stands for (share of the class)**-p, scaled like scikit-learn's "balanced",
    which is ``p = 1``; "sqrt-balanced" is ``p = 0.5``.
    """
    power = POWERS.get(class_weight) if isinstance(class_weight, str) else class_weight
    if class_weight is None or (streamed and class_weight == "sqrt-balanced"):
        return None
    if streamed and not isinstance(class_weight, Mapping):
        raise ValueError(
            f"class_weight={class_weight!r} needs to see all rows at once; "
            "pass the weights of the classes as a dictionary to partial_fit"
        )
    present = np.unique(y)
    weights = np.ones(len(classes))
    there = np.isin(classes, present)
    if isinstance(power, Real) and not isinstance(power, bool):
        if not 0 <= float(power) < np.inf:
            raise ValueError(
                f"class_weight={class_weight!r} is not possible; a power must be 0 or more"
            )
        balanced = compute_class_weight("balanced", classes=present, y=y)
        weights[there] = balanced ** float(power)
    else:
        weights[there] = compute_class_weight(class_weight, classes=present, y=y)
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(
            f"class_weight={class_weight!r} has weights that are negative, infinite or not a "
            "number; every class needs a weight of 0 or more"
        )
    return weights


def read_validation(
    estimator: BaseEstimator, X_valid: Any, y_valid: Any, classes: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Validation rows and their class indices."""
    if X_valid is None or y_valid is None:
        raise ValueError("X_valid and y_valid belong together; pass both or neither")
    rows = read_rows(estimator, X_valid, reset=False)
    labels = read_labels(y_valid, "y_valid")
    check_consistent_length(rows, labels)
    return rows, class_indices(labels, classes, "y_valid")


def _remedy(X: Any, message: str) -> str:
    """What to do about rows that scikit-learn refuses."""
    if "NaN" in message:
        return (
            "\nGradTree: fill the gaps first, for example with sklearn.impute.SimpleImputer in a "
            "Pipeline, or let gradtree.fit_table prepare a raw table."
        )
    if "convert" not in message and "string" not in message:
        return ""
    columns = [
        str(name)
        for name, dtype in getattr(getattr(X, "dtypes", None), "items", dict)()
        if dtype.kind not in "biuf"
    ]
    which = f" ({', '.join(columns)})" if columns else ""
    return (
        f"\nGradTree: columns of text{which} must become numbers first, for example with "
        "sklearn.preprocessing.TargetEncoder in a Pipeline; gradtree.fit_table does it for you."
    )
