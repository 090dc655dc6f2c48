"""From the bytes of a source's files to text cells, and from those to the canonical table."""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from datasets.errors import RefusedError, told
from datasets.files import check_size, gunzipped, read_file
from datasets.record import ClassLabel, Layout, Record
from datasets.table import Table, canonical_numbers

PERMUTATIONS = Path(__file__).parent / "permutations"
MISSING_TEXTS = ("", "?")

Reader = Callable[[bytes, Layout], pd.DataFrame]


def read_table(record: Record, contents: Sequence[bytes], layout: Layout) -> Table:
    """Read the files of one source, in order, into the canonical table."""
    if layout.reader not in READERS:
        raise RefusedError(f"no reader {layout.reader!r}; known are {', '.join(READERS)}")
    try:
        read = READERS[layout.reader]
        parts = [read(gunzipped(content), layout) for content in contents]
        return to_table(record, pd.concat(parts, ignore_index=True), layout)
    except RefusedError:
        raise
    except Exception as error:  # whatever a parser makes of foreign bytes
        raise RefusedError(f"cannot be read as {layout.reader} data: {told(error)}") from error


def to_table(record: Record, cells: pd.DataFrame, layout: Layout) -> Table:
    """Turn text cells with the layout's columns into the record's canonical table."""
    cells = _reorder(cells, layout)
    categorical = set(record.categorical)
    columns: list[NDArray[np.float64] | pd.Categorical] = []
    for feature in record.features:
        texts = _tidy(cells[feature], layout.recode)
        columns.append(_categories(texts) if feature in categorical else _numbers(feature, texts))
    labels = _tidy(cells[record.label], {**layout.recode, **layout.recode_label})
    if record.task != "regression":
        return Table(tuple(columns), _class_indices(record.classes, labels))
    y = _numbers(record.label, labels)
    if gaps := int((~np.isfinite(y)).sum()):
        raise RefusedError(f"the label {record.label!r} is no number in {gaps} of {len(y)} rows")
    return Table(tuple(columns), y)


def _reorder(cells: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    if layout.rows is not None:
        cells = cells.iloc[: layout.rows]
    if layout.permutation is not None:
        lines = read_file(PERMUTATIONS / layout.permutation).decode("ascii").splitlines()
        order = np.array([int(row) for line in lines[1:] for row in line.split()])
        if not np.array_equal(np.sort(order), np.arange(len(cells))):
            raise RefusedError(f"{len(cells)} rows do not fit the permutation {layout.permutation}")
        cells = cells.iloc[order]
    return cells


def _tidy(texts: pd.Series, recode: Mapping[str, str]) -> pd.Series:
    """Strip, recode, spell numbers in one way, and mark what is missing; per distinct text."""
    distinct = texts.unique()
    tidy = {text: _spell(recode.get(text.strip(), text.strip())) for text in distinct}
    return texts.map(tidy)


@cache
def _spell(text: str) -> str | None:
    """One spelling per value: 08, 8 and 8.0 are the number 8."""
    if text in MISSING_TEXTS:
        return None
    if text[-1].isdigit() or text[-1] == ".":
        try:
            number = float(text)
        except ValueError:
            return text
        return str(int(number)) if number.is_integer() else repr(number)
    return text


def _numbers(feature: str, texts: pd.Series) -> NDArray[np.float64]:
    try:
        return canonical_numbers(texts.to_numpy(dtype=np.float64, na_value=np.nan))
    except ValueError as error:
        raise RefusedError(f"column {feature!r} should hold numbers: {error}") from error


def _categories(texts: pd.Series) -> pd.Categorical:
    levels = sorted(text for text in texts.unique() if isinstance(text, str))
    return pd.Categorical(texts, categories=pd.Index(levels, dtype=object))


def _class_indices(classes: Sequence[ClassLabel], labels: pd.Series) -> NDArray[np.int64]:
    index = {value: i for i, label in enumerate(classes) for value in (label.name, *label.values)}
    indices = labels.map(index).fillna(index.get("*", -1)).mask(labels.isna(), -1)
    if len(unknown := labels[labels.notna() & (indices < 0)]):
        raise RefusedError(f"unknown label {unknown.iloc[0]!r}")
    return indices.to_numpy(dtype=np.int64)


def _delimited(content: bytes, layout: Layout) -> pd.DataFrame:
    """Cells between separators, one row per line; rows of another width are refused."""
    cells = pd.read_csv(
        io.BytesIO(content),
        sep=r"\s+" if layout.separator == " " else layout.separator,
        header=None,
        skiprows=layout.skip,
        dtype=str,
        keep_default_na=False,
        encoding=layout.encoding,
        low_memory=False,
    )
    return _name(cells, layout)


def _name(cells: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    if cells.shape[1] != len(layout.columns):
        raise RefusedError(f"{cells.shape[1]} columns where {len(layout.columns)} are expected")
    return cells.set_axis(list(layout.columns), axis=1)


def _excel(content: bytes, layout: Layout) -> pd.DataFrame:
    """The first sheet of a workbook."""
    check_size(content)
    cells = pd.read_excel(io.BytesIO(content), header=None, skiprows=layout.skip, dtype=object)
    return _name(cells.map(str), layout)


def _splice(content: bytes, layout: Layout) -> pd.DataFrame:
    """Class, name and a sequence whose letters are the features, one column each."""
    lines = content.decode(layout.encoding).splitlines()[layout.skip :]
    fields = [[cell.strip() for cell in line.split(",")] for line in lines if line.strip()]
    return _name(pd.DataFrame([[row[0], *row[-1]] for row in fields]), layout)


def _thyroid(content: bytes, layout: Layout) -> pd.DataFrame:
    """The last field is the diagnosis with a patient number in brackets, which is cut off."""
    cells = _delimited(content, layout)
    last = layout.columns[-1]
    return cells.assign(**{last: cells[last].str.partition("[")[0]})


def _echocardiogram(content: bytes, layout: Layout) -> pd.DataFrame:
    """One line of the archive's file opens with a stray comma, which is removed."""
    return _delimited(re.sub(rb"(?m)^,", b"", content), layout)


READERS: dict[str, Reader] = {
    "delimited": _delimited,
    "excel": _excel,
    "splice": _splice,
    "thyroid": _thyroid,
    "echocardiogram": _echocardiogram,
}
