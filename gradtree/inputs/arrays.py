"""Reading what users pass to the estimator, with errors that say what to do."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite, check_array, column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, validate_data

from gradtree.columns.coding import Column, coded_matrix, is_missing, learn_columns
from gradtree.columns.frames import (
    RawColumn,
    RawTable,
    array_columns,
    as_table,
    column_labels,
    frame_columns,
    is_frame,
    printed_names,
    read_column,
)
from gradtree.typing import Array, Codes, Floats, Places

FLOATS = [np.float64, np.float32]
LARGEST_WEIGHT = 1e100

Rows = Array | list[RawColumn]


def read_rows(
    estimator: BaseEstimator, X: Any, *, reset: bool, by_column: bool, min_rows: int = 1
) -> Rows:
    """A matrix of numbers, not copied if it is one already, or the columns of a table.

    The estimator learns number and names of columns if ``reset``, else they must be those that it
    has. With ``by_column`` an array may hold other things than numbers.
    """
    if issparse(X):
        raise TypeError(
            f"Sparse data was passed, but {type(estimator).__name__} needs dense rows, because a "
            "split looks at every value; pass X.toarray(), or fewer columns (for example by "
            "sklearn.feature_selection.SelectKBest) where that does not fit into memory"
        )
    if is_frame(X):
        X = as_table(X)
        _check_names(estimator, X, reset)
        if not reset and not by_column and _is_matrix(X):
            matrix = np.asarray(X)
            assert_all_finite(matrix, allow_nan=True, input_name="X")
            return matrix
        columns = frame_columns(X)
        n_rows = len(columns[0]) if columns else 0
        for found, least, what in ((len(columns), 1, "feature"), (n_rows, min_rows, "sample")):
            if found < least:
                raise ValueError(
                    f"Found a table with {found} {what}(s) while a minimum of {least} is required."
                )
        return columns
    if by_column:
        cells = check_array(
            X, dtype=None, ensure_all_finite=False, ensure_min_samples=min_rows, input_name="X"
        )
        validate_data(estimator, cells, reset=reset, skip_check_array=True)
        return array_columns(cells)
    checks = {"dtype": FLOATS, "ensure_all_finite": "allow-nan", "ensure_min_samples": min_rows}
    try:
        return np.asarray(validate_data(estimator, X, reset=reset, **checks))
    except ValueError as error:
        if "convert" not in str(error) and "string" not in str(error):
            raise
        raise ValueError(
            f"{error}\nGradTree: pass text as columns of a DataFrame, or say which columns of the "
            f"array hold categories: {type(estimator).__name__}(categorical_features=[...])."
        ) from error


def _is_matrix(X: Any) -> bool:
    """Whether a frame of pandas holds numbers of one type, and is a matrix already."""
    types = set(getattr(X, "dtypes", ()))
    return hasattr(X, "iloc") and len(types) == 1 and types <= {np.dtype("f8"), np.dtype("f4")}


def _check_names(estimator: BaseEstimator, X: Any, reset: bool) -> None:
    labels = column_labels(X)
    if not isinstance(X, RawTable) and len(set(map(str, labels))) == len(labels):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return
    # scikit-learn has no answer to names that come twice; they are numbered instead.
    names = np.array(printed_names(labels), dtype=object)
    if reset:
        estimator.n_features_in_, estimator.feature_names_in_ = len(names), names
    elif names.tolist() != getattr(estimator, "feature_names_in_", names).tolist():
        raise ValueError(
            "The feature names should match those that were passed during fit: "
            f"{', '.join(estimator.feature_names_in_)}, not {', '.join(names)}"
        )


def categorical_mask(wanted: Any, rows: Rows, names: Sequence[Any] | None) -> list[bool]:
    """Which columns hold categories whatever their type, as scikit-learn lets people say it."""
    width = rows.shape[1] if isinstance(rows, np.ndarray) else len(rows)
    mask = [False] * width
    if wanted is None or (isinstance(wanted, str) and wanted == "from_dtype"):
        return mask
    chosen = np.atleast_1d(np.asarray(wanted))
    if chosen.dtype == bool:
        if chosen.shape != (width,):
            raise ValueError(
                f"categorical_features as a mask needs one entry per column, {width}, not "
                f"{chosen.size}"
            )
        return chosen.tolist()
    known = [] if names is None else list(names)
    for one in chosen.tolist():
        place = known.index(one) if one in known else one
        if not isinstance(place, int) or not -width <= place < width:
            raise ValueError(
                f"categorical_features names a column that is not there: {one!r}; give names, "
                "positions or a mask of columns, or 'from_dtype'"
            )
        mask[place] = True
    return mask


def learned_columns(
    rows: Rows, trained: Places, mask: Sequence[bool], names: Sequence[Any] | None
) -> tuple[Column, ...]:
    """What the columns hold, by the rows that a tree is trained on."""
    if not isinstance(rows, np.ndarray):
        return learn_columns(rows, trained, mask)
    gaps = np.asarray(np.isnan(rows[trained]).any(axis=0))
    printed = printed_names(range(rows.shape[1]) if names is None else names)
    return tuple(Column(name, gaps=bool(gap)) for name, gap in zip(printed, gaps, strict=True))


def coded_rows(rows: Rows, columns: Sequence[Column]) -> Array:
    """Rows as numbers; see :mod:`gradtree.columns.coding`."""
    return rows if isinstance(rows, np.ndarray) else coded_matrix(rows, columns)


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """What to train on."""

    rows: Rows  # as given, apart from rows of weight zero
    y: Codes  # class indices
    weight: Floats | None  # sample weights times class weights
    classes: Array  # the labels that y points to
    class_weight: Floats | None  # (n_classes,)
    sample_weight: Floats | None  # without those of the classes

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def codes(self) -> Array:
        """What scikit-learn's trees are fitted to."""
        return self.y

    @property
    def truth(self) -> Array:
        """What is to be predicted, as it was given."""
        return np.asarray(self.classes[self.y])

    def told(self, y: Any, name: str) -> Array:
        """Class indices of other rows, or the numbers to predict of them, checked."""
        return class_indices(read_labels(y, name), self.classes, name)

    def folds(self, cv: Any) -> Any:
        """The folds that are asked for, if these rows are enough for them."""
        return cv


def read_training_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, classes: Any, class_weight: Any
) -> TrainingRows:
    """Check rows, labels and weights; learn names of columns and classes."""
    rows, labels, own = read_weighted_rows(estimator, X, y, sample_weight, read_labels)
    known = read_classes(labels, classes)
    codes = class_indices(labels, known, "y")
    by_class = class_weights(class_weight, labels, known)
    weight = own
    if by_class is not None:
        weight = by_class[codes] if own is None else own * by_class[codes]
    return TrainingRows(rows, codes, weight, known, by_class, own)


def read_weighted_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, read: Callable[[Any, str], Array]
) -> tuple[Rows, Array, Floats | None]:
    """Rows, what is to be predicted of them, and their weights; without rows of weight 0."""
    if y is None:
        # scikit-learn words this error itself.
        validate_data(estimator, X, y)
    wanted = estimator.categorical_features
    by_column = not (wanted is None or isinstance(wanted, str)) and np.size(wanted) > 0
    rows = read_rows(estimator, X, reset=True, by_column=by_column, min_rows=2)
    known = read(y, "y")
    check_consistent_length(rows if isinstance(rows, np.ndarray) else rows[0], known)
    own = read_weights(sample_weight, len(known))
    if own is not None and not own.all():
        used = np.flatnonzero(own)
        known, own = known[used], own[used]
        if isinstance(rows, np.ndarray):
            return rows[used], known, own
        rows = [column.some(used) for column in rows]
    return rows, known, own


def read_labels(y: Any, name: str) -> Array:
    """A vector of class labels without gaps, of one type."""
    if isinstance(y, list | tuple) and {isinstance(label, str) for label in y} == {True, False}:
        # NumPy would make text of them all.
        y = np.fromiter(y, dtype=object, count=len(y))
    if hasattr(y, "__arrow_c_stream__") or hasattr(y, "__arrow_c_array__"):
        y = read_column(name, y).cells
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name=name)
    if labels.dtype.kind == "O":
        _check_objects(labels, name)
    check_classification_targets(labels)
    return np.asarray(labels)


def _check_objects(labels: Array, name: str) -> None:
    cells = labels.tolist()
    n_missing = sum(map(is_missing, cells))
    if n_missing:
        raise ValueError(
            f"Input {name} contains NaN: {n_missing} of {len(cells)} labels are missing; leave "
            "these rows out (gradtree.fit_table does)"
        )
    types = sorted({type(cell).__name__ for cell in cells})
    try:
        sorted(set(cells))
    except TypeError as error:
        raise ValueError(
            f"{name} has labels of types that cannot be ordered ({', '.join(types)}); make them "
            "all one type, for example all text"
        ) from error


def as_training_type(X: Array, dtype: str) -> Array:
    """The rows in the precision of training, row by row in memory."""
    with np.errstate(over="ignore"):
        rows = np.ascontiguousarray(X, dtype=dtype)
    if rows.dtype.itemsize < X.dtype.itemsize and not np.isfinite(rows.sum(dtype=np.float64)):
        raise ValueError(
            f"X has numbers beyond the range of {dtype}, in which the tree is trained; "
            "leave scale as it is, or scale the columns first"
        )
    # The engine would be compiled anew for read-only rows, such as memory maps.
    return rows if rows.flags.writeable else rows.copy()


def read_classes(y: Array, classes: Any = None) -> Array:
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


def class_indices(y: Array, classes: Array, name: str) -> Codes:
    places = np.searchsorted(classes, y)
    places[places == len(classes)] = 0
    unknown = np.unique(y[classes[places] != y]).tolist()
    if unknown:
        raise ValueError(
            f"{name} has classes that the training rows do not have: {unknown}; take these rows "
            "out, or name all classes with fit(..., classes=[...])"
        )
    return places.astype(np.int64)


def read_weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """Weight of every row, ``None`` if there are none."""
    if sample_weight is None:
        return None
    rows = np.empty((n_rows, 1))
    weight = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
    if not weight.any():
        raise ValueError("all sample weights are zero; at least some rows need a positive weight")
    return scaled_down(np.asarray(weight))


def scaled_down(weight: Floats) -> Floats:
    """Weights whose products and sums are finite: only their ratios matter."""
    return weight / weight.max() if weight.max() > LARGEST_WEIGHT else weight


def class_weights(class_weight: Any, y: Array, classes: Array) -> Floats | None:
    """Weight of every class; 1 for those that ``y`` lacks.

    A number ``p`` stands for (share of the class)**-p, scaled like scikit-learn's "balanced",
    which is ``p = 1``; "sqrt-balanced" is ``p = 0.5``.
    """
    if class_weight is None:
        return None
    sqrt = isinstance(class_weight, str) and class_weight == "sqrt-balanced"
    power = 0.5 if sqrt else class_weight
    present = np.unique(y)
    weights = np.ones(len(classes))
    there = np.isin(classes, present)
    if isinstance(power, Real) and not isinstance(power, bool):
        if not 0 <= float(power) < np.inf:
            raise ValueError(
                f"class_weight={class_weight!r} is not possible; a power must be 0 or more"
            )
        counts = np.unique(y, return_counts=True)[1]
        weights[there] = (len(y) / (len(present) * counts)) ** float(power)
    else:
        weights[there] = compute_class_weight(class_weight, classes=present, y=y)
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ValueError(
            f"class_weight={class_weight!r} is not possible; weights of classes must be finite "
            "numbers, none below 0 and not all 0"
        )
    return scaled_down(weights)


def read_validation(
    estimator: Any, X_valid: Any, y_valid: Any, data: TrainingRows
) -> tuple[Rows, Array]:
    """Validation rows, and their class indices or the numbers to predict."""
    if X_valid is None or y_valid is None:
        raise ValueError("X_valid and y_valid belong together; pass both or neither")
    by_column = not isinstance(data.rows, np.ndarray)
    rows = read_rows(estimator, X_valid, reset=False, by_column=by_column)
    told = data.told(y_valid, "y_valid")
    check_consistent_length(rows if isinstance(rows, np.ndarray) else rows[0], told)
    return rows, told
