"""Splits in the user's own units.

A tree is trained on preprocessed numbers: normal quantiles, target means,
indicators. Given the fitted preprocessing, a split on such a column is written
back as a value of the raw column (``Age <= 30``) or as a set of categories
(``Embarked in {C, Q}``). Nothing is inverted by formula: the preprocessing is
asked which raw values go left, and the border is searched to the last bit, so
the rule routes raw rows exactly as the tree routes the preprocessed ones.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradtree.units.columns import Source, raw_names, trace
from gradtree.units.conditions import (
    Split,
    as_numbers,
    category_split,
    is_missing,
    numeric_split,
)
from gradtree.units.numbers import border_text
from gradtree.units.probes import Prober, boundaries, transformed, unseen_category

# The written rules are checked against the preprocessing on at most this many raw rows.
CHECKED_ROWS = 10_000

EMPTY = np.empty((0, 0), dtype=np.float64)


def original_units(preprocessing: Any, X_raw: Any = None, *, digits: int = 4) -> OriginalUnits:
    """Units for ``export_text``, ``plot``, ``rules`` and ``export_graphviz``.

    Parameters
    ----------
    preprocessing : fitted transformer
        A ``Pipeline``, ``ColumnTransformer`` or single transformer whose steps
        treat columns one by one: scalers, ``QuantileTransformer``,
        ``SimpleImputer``, one-hot, ordinal and target encoders, those of
        category_encoders, and any transformer that keeps its column names. A
        pipeline that ends in a classifier may be given whole.
    X_raw : DataFrame or array of shape (n_rows, n_raw_columns), optional
        Raw rows, best those of training. With them, borders are printed with
        as few digits as tell these rows apart, the rules are checked on them,
        and missing values are mentioned only where they occur.
    digits : int, default=4
        Significant digits of borders where ``X_raw`` does not decide.

    Examples
    --------
    >>> print(tree.export_text(units=original_units(pipeline, frame)))  # doctest: +SKIP
    """
    steps = getattr(preprocessing, "steps", None)
    if steps and hasattr(steps[-1][1], "predict"):
        preprocessing = preprocessing[:-1]
    return OriginalUnits(preprocessing, X_raw, digits)


@dataclass(frozen=True, eq=False)
class Images:
    """What the preprocessing makes of the special values of one raw column.

    Rows of the preprocessed matrix; ``None`` where the preprocessing refuses the value.
    """

    categories: tuple[Hashable, ...] | None
    known: NDArray[np.float64]
    missing: NDArray[np.float64] | None
    unseen: NDArray[np.float64] | None


class OriginalUnits:
    """Says what splits on preprocessed columns mean for raw values; see `original_units`."""

    def __init__(self, preprocessing: Any, X_raw: Any = None, digits: int = 4) -> None:
        self.names = raw_names(preprocessing, X_raw)
        self._sources = trace(preprocessing, [Source(i) for i in range(len(self.names))])
        self._digits = digits
        self._raw = None if X_raw is None else _sample(X_raw)
        self._prober = Prober(preprocessing, self._sources, self.names, self._raw)
        self._matrix = None if self._raw is None else transformed(preprocessing, self._raw)
        self._images: dict[int, Images] = {}
        self._known: dict[tuple[int, float], Split] = {}

    def splits(
        self, features: NDArray[np.int32], thresholds: NDArray[np.float64]
    ) -> Sequence[Split]:
        """The meaning of ``matrix[:, feature] <= threshold`` for pairs of the two."""
        wanted = list(zip(map(int, features), map(float, thresholds), strict=True))
        beyond = max((feature for feature, _ in wanted), default=-1)
        if beyond >= len(self._sources):
            raise ValueError(
                f"the tree tests column {beyond}, but the preprocessing makes only "
                f"{len(self._sources)} columns; was the tree trained on its output?"
            )
        new = [pair for pair in dict.fromkeys(wanted) if pair not in self._known]
        found = self._numeric_splits([p for p in new if self._image(p[0]).categories is None])
        found |= {pair: self._category_split(*pair) for pair in new if pair not in found}
        for pair, split in found.items():
            self._check(*pair, split)
        self._known |= found
        return [self._known[pair] for pair in wanted]

    def _numeric_splits(self, wanted: list[tuple[int, float]]) -> dict[tuple[int, float], Split]:
        if not wanted:
            return {}
        columns = [self._sources[feature].column for feature, _ in wanted]
        features = np.array([feature for feature, _ in wanted])
        thresholds = np.array([threshold for _, threshold in wanted])

        def side_of(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
            width = numbers.shape[1]
            outputs = self._prober.outputs(np.repeat(columns, width), numbers.ravel())
            reached = outputs[np.arange(numbers.size), np.repeat(features, width)]
            # What has no image, like the logarithm of -1, lies below all that has one.
            left = np.isnan(reached) | (reached <= np.repeat(thresholds, width))
            return np.asarray(left.reshape(numbers.shape))

        last, starts_left = boundaries(side_of, len(wanted))
        return {
            pair: self._numeric_split(*pair, border, left_first)
            for pair, border, left_first in zip(
                wanted, last.tolist(), starts_left.tolist(), strict=True
            )
        }

    def _numeric_split(
        self, feature: int, threshold: float, border: float, left_first: bool
    ) -> Split:
        column = self._sources[feature].column
        missing = self._image(feature).missing
        missing_left = missing is not None and bool(missing[feature] <= threshold)
        cells = None if self._raw is None else as_numbers(self._raw_column(column))
        split = numeric_split(
            self.names[column],
            border,
            border_text(border, cells, self._digits),
            missing_left=missing_left == left_first,
            tell_missing=missing is not None and (cells is None or bool(np.isnan(cells).any())),
        )
        return split if left_first else Split(left=split.right, right=split.left)

    def _category_split(self, feature: int, threshold: float) -> Split:
        image = self._image(feature)
        left = image.known[:, feature] <= threshold
        sides = tuple(
            tuple(c for c, goes in zip(image.categories or (), left, strict=True) if goes == side)
            for side in (True, False)
        )
        column = self._sources[feature].column
        occurs = self._raw is None or any(map(is_missing, self._raw_column(column)))
        return category_split(
            self.names[column],
            *sides,
            missing_left=image.missing is not None and bool(image.missing[feature] <= threshold),
            unseen_left=image.unseen is not None and bool(image.unseen[feature] <= threshold),
            tell_missing=image.missing is not None and occurs,
        )

    def _image(self, feature: int) -> Images:
        column = self._sources[feature].column
        if column not in self._images:
            categories = self._categories(feature)
            known = categories or ()
            self._images[column] = Images(
                categories,
                self._prober.outputs(np.full(len(known), column), known) if known else EMPTY,
                self._try(column, np.nan if categories is None else None),
                None if categories is None else self._try(column, unseen_category(known)),
            )
        return self._images[column]

    def _categories(self, feature: int) -> tuple[Hashable, ...] | None:
        """Categories of the raw column behind a column, ``None`` if it holds numbers."""
        source = self._sources[feature]
        if self._raw is None:
            if source.categories == ():
                raise ValueError(
                    f"the encoder of column {self.names[source.column]!r} does not tell its "
                    "categories; pass X_raw, the raw training rows"
                )
            return source.categories
        cells = self._raw_column(source.column)
        if source.categories is None and _holds_numbers(cells):
            return None
        seen = dict.fromkeys([*(source.categories or ()), *np.asarray(cells).tolist()])
        return _in_order([c for c in seen if not is_missing(c)])

    def _try(self, column: int, value: Any) -> NDArray[np.float64] | None:
        """The image of a value, unless the preprocessing refuses it."""
        try:
            image = self._prober.outputs(np.array([column]), [value])[0]
        except (ValueError, TypeError, KeyError):
            return None
        own = [s.column == column for s in self._sources]
        return None if np.isnan(image[own]).any() else image

    def _raw_column(self, column: int) -> Any:
        if hasattr(self._raw, "iloc"):
            return self._raw.iloc[:, column]  # type: ignore[union-attr]
        return np.asarray(self._raw)[:, column]

    def _check(self, feature: int, threshold: float, split: Split) -> None:
        if self._matrix is None:
            return
        reached = self._matrix[:, feature]
        cells = self._raw_column(self._sources[feature].column)
        wrong = split.left.holds(cells) != (reached <= threshold)
        if np.any(wrong & ~np.isnan(reached)):
            raise ValueError(
                f"column {feature} of the preprocessed matrix is not an increasing or decreasing "
                f"function of {split.column!r} alone, so its splits have no original units; "
                "leave units away to see the numbers of the tree"
            )


def _sample(X_raw: Any) -> Any:
    step = -(-len(X_raw) // CHECKED_ROWS)
    rows = X_raw if hasattr(X_raw, "iloc") else np.asarray(X_raw)
    return rows[::step]


def _holds_numbers(cells: Any) -> bool:
    kind = getattr(cells.dtype, "kind", "O")
    if kind in "iuf":
        return True
    return kind == "O" and all(
        isinstance(c, int | float) and not isinstance(c, bool)
        for c in np.asarray(cells).tolist()
        if not is_missing(c)
    )


def _in_order(categories: list[Hashable]) -> tuple[Hashable, ...]:
    try:
        return tuple(sorted(categories))  # type: ignore[type-var]
    except TypeError:
        return tuple(categories)
