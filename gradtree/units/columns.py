"""Which raw column each column of a preprocessed matrix comes from.

Followed through fitted scikit-learn transformers (and those that behave like
them) that treat every column by itself. Transformers that mix columns, such as
PCA, have no answer and raise an error that says so.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

from gradtree.units.conditions import is_missing

COLUMN_BY_COLUMN = (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)


@dataclass(frozen=True)
class Source:
    """A raw column.

    Attributes
    ----------
    column : int
        Its position in the raw table.
    categories : tuple or None
        What its encoder knows of its categories; ``None`` for a numeric column.
    """

    column: int
    categories: tuple[Hashable, ...] | None = None


def raw_names(preprocessing: Any, X_raw: Any = None) -> list[str]:
    """Names of the raw columns, ``x0, x1, …`` where there are none."""
    columns = getattr(X_raw, "columns", None)
    if columns is None:
        columns = getattr(preprocessing, "feature_names_in_", None)
    if columns is not None:
        return [str(name) for name in columns]
    n_columns = np.shape(X_raw)[1] if X_raw is not None else preprocessing.n_features_in_
    return [f"x{index}" for index in range(n_columns)]


def trace(transformer: Any, inputs: Sequence[Source]) -> list[Source]:
    """The source of every output column of a fitted transformer.

    Parameters
    ----------
    transformer : fitted transformer, ``None`` or ``"passthrough"``
    inputs : sequence of Source
        Sources of its input columns.
    """
    if transformer is None or transformer == "passthrough":
        return list(inputs)
    if isinstance(transformer, Pipeline):
        sources = list(inputs)
        for _, step in transformer.steps:
            sources = trace(step, sources)
        return sources
    if isinstance(transformer, ColumnTransformer):
        return _side_by_side(transformer, inputs)
    if isinstance(transformer, FeatureUnion):
        return [s for _, part in transformer.transformer_list for s in trace(part, inputs)]
    if isinstance(transformer, COLUMN_BY_COLUMN):
        return list(inputs)
    if isinstance(transformer, KBinsDiscretizer):
        return _binned(transformer, inputs)
    if isinstance(transformer, SimpleImputer):
        return _imputed(transformer, inputs)
    if isinstance(transformer, MissingIndicator):
        return [inputs[index] for index in transformer.features_]
    if isinstance(transformer, OneHotEncoder | OrdinalEncoder | TargetEncoder):
        return _encoded(transformer, inputs)
    if hasattr(transformer, "cols") and hasattr(transformer, "mapping"):
        return _encoded_by_name(transformer, inputs)
    return _same_names(transformer, inputs)


def _side_by_side(transformer: ColumnTransformer, inputs: Sequence[Source]) -> list[Source]:
    names = list(getattr(transformer, "feature_names_in_", []))
    outputs: dict[int, Source] = {}
    for name, part, columns in transformer.transformers_:
        place = transformer.output_indices_[name]
        if part == "drop" or place.stop == place.start:
            continue
        sources = trace(part, [inputs[i] for i in _positions(columns, names, len(inputs))])
        outputs |= dict(zip(range(place.start, place.stop), sources, strict=True))
    return [outputs[index] for index in sorted(outputs)]


def _positions(columns: Any, names: list[str], n_columns: int) -> list[int]:
    """Column positions of a selection by name, position, slice or mask."""
    if isinstance(columns, slice) and isinstance(columns.start or columns.stop, str):
        first = 0 if columns.start is None else names.index(columns.start)
        last = n_columns if columns.stop is None else names.index(columns.stop) + 1
        return list(range(first, last, columns.step or 1))
    if isinstance(columns, slice):
        return list(range(n_columns))[columns]
    selection = np.atleast_1d(np.asarray(columns))
    if selection.dtype == bool:
        return np.flatnonzero(selection).tolist()
    return [names.index(c) if isinstance(c, str) else int(c) % n_columns for c in selection]


def _imputed(transformer: SimpleImputer, inputs: Sequence[Source]) -> list[Source]:
    empty = np.array([is_missing(value) for value in transformer.statistics_])
    kept = empty & False if transformer.keep_empty_features else empty
    filled = [source for source, gone in zip(inputs, kept, strict=True) if not gone]
    if transformer.add_indicator:
        filled += [inputs[index] for index in transformer.indicator_.features_]
    return filled


def _binned(transformer: KBinsDiscretizer, inputs: Sequence[Source]) -> list[Source]:
    if transformer.encode == "ordinal":
        return list(inputs)
    raise ValueError(
        "KBinsDiscretizer with one-hot bins is not monotone in the raw column; "
        "use encode='ordinal' to see its splits in original units"
    )


def _encoded(transformer: Any, inputs: Sequence[Source]) -> list[Source]:
    outputs: list[Source] = []
    for index, (source, categories) in enumerate(zip(inputs, transformer.categories_, strict=True)):
        known = tuple(c for c in categories.tolist() if not is_missing(c))
        outputs += [replace(source, categories=known)] * _width(transformer, index)
    return outputs


def _width(transformer: Any, index: int) -> int:
    """How many columns an encoder makes of one."""
    if isinstance(transformer, TargetEncoder):
        return len(transformer.classes_) if transformer.target_type_ == "multiclass" else 1
    if isinstance(transformer, OrdinalEncoder):
        return 1
    width = len(transformer.categories_[index])
    infrequent = getattr(transformer, "infrequent_categories_", None)
    if infrequent is not None and infrequent[index] is not None:
        width -= len(infrequent[index]) - 1
    dropped = transformer.drop_idx_
    return width - (dropped is not None and dropped[index] is not None)


def _encoded_by_name(transformer: Any, inputs: Sequence[Source]) -> list[Source]:
    """Encoders of the category_encoders package that replace columns by numbers."""
    outputs = _same_names(transformer, inputs)
    names = [str(name) for name in transformer.get_feature_names_out()]
    for name in transformer.cols:
        table = transformer.mapping[name] if isinstance(transformer.mapping, dict) else ()
        known = tuple(c for c in getattr(table, "index", ()) if not is_missing(c))
        place = names.index(str(name))
        outputs[place] = replace(outputs[place], categories=known)
    return outputs


def _same_names(transformer: Any, inputs: Sequence[Source]) -> list[Source]:
    """A transformer whose output columns are named after the input columns they come from."""
    names_in = [str(name) for name in getattr(transformer, "feature_names_in_", ())]
    names_out: list[str] = []
    if len(names_in) == len(inputs) and hasattr(transformer, "get_feature_names_out"):
        names_out = [str(name) for name in transformer.get_feature_names_out()]
    if isinstance(transformer, Normalizer) or not names_out or not set(names_out) <= set(names_in):
        raise ValueError(
            f"cannot follow columns through {type(transformer).__name__}: splits can be shown in "
            "original units if every step treats columns one by one and keeps their names "
            "(get_feature_names_out); leave units away to see the numbers of the tree"
        )
    return [inputs[names_in.index(name)] for name in names_out]
