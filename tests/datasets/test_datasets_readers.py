"""From bytes of several formats to one table."""

import gzip
import io
import re
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from datasets_support import FRUIT, fruit_record, fruit_table

from datasets import Record, RefusedError, all_records, readers, record
from datasets.readers import READERS, read_table
from datasets.record import Layout
from datasets.table import Table


def read(content: bytes, **changes: Any) -> Table:
    entry = fruit_record(**changes)
    return read_table(entry, [content], entry.layout)


def test_numbers_categories_and_labels():
    table = fruit_table()
    number, colour = table.columns
    np.testing.assert_array_equal(number, [120, 80.5, np.nan, 95, 110])
    assert isinstance(colour, pd.Categorical)
    assert list(colour.categories) == ["green", "red", "yellow"]
    assert [None if pd.isna(c) else c for c in colour] == ["red", "yellow", "red", None, "green"]
    assert table.y.tolist() == [0, 1, 0, 1, 0]


@pytest.mark.parametrize(
    ("content", "changes"),
    [
        (FRUIT.replace(b"\n", b"\r\n"), {}),
        (FRUIT.replace(b",", b";"), {"separator": ";"}),
        (FRUIT.replace(b",", b"\t"), {"separator": "\t"}),
        (FRUIT.replace(b",,", b",?,").replace(b",", b"  "), {"separator": " "}),
        (FRUIT.replace(b"120", b"0120.00").replace(b"80.5", b"8.05e1"), {}),
        (FRUIT.split(b"\n", 1)[1], {"skip": 0}),
        (FRUIT + b"1,red,pear\n", {"rows": 5}),
        (FRUIT.replace(b"apple", b"1").replace(b"lemon", b"2"), "recoded"),
        (FRUIT.replace(b"red", b"R"), {"recode": {"R": "red"}}),
        (FRUIT.replace(b"red", b'" red "'), {}),
    ],
)
def test_spelling_does_not_matter(content, changes):
    if changes == "recoded":
        changes = {"recode_label": {"1": "apple", "2": "lemon"}}
    assert read(content, **changes).content_hash == fruit_table().content_hash


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "cannot be read as delimited data"),
        (b"weight,colour,kind\n1,red\n", "2 columns where 3 are expected"),
        (FRUIT.replace(b"95,,lemon", b"95,,lemon,4"), "cannot be read"),
        (FRUIT.replace(b"95", b"many"), "column 'weight' should hold numbers"),
        (FRUIT.replace(b"95,,lemon", b"95,,melon"), "unknown label 'melon'"),
    ],
)
def test_what_does_not_fit_is_refused(content, complaint):
    with pytest.raises(RefusedError, match=re.escape(complaint)):
        read(content)


def test_a_star_stands_for_any_other_label_and_a_missing_one_is_marked():
    classes = [{"name": "apple", "rows": 3}, {"name": "other", "values": ["*"], "rows": 2}]
    content = FRUIT.replace(b"80.5,yellow,lemon", b"80.5,yellow,lime")
    assert read(content, classes=classes).y.tolist() == [0, 1, 0, 1, 0]
    assert read(FRUIT.replace(b"95,,lemon", b"95,,?")).y.tolist() == [0, 1, 0, -1, 0]


def test_a_permutation_restores_the_order(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "PERMUTATIONS", tmp_path)
    head, *rows = FRUIT.splitlines(keepends=True)
    (tmp_path / "p.txt").write_text("# row i is row p[i]\n4 3\n2 1 0\n", encoding="ascii")
    shuffled = b"".join([head, *rows[::-1]])
    assert read(shuffled, permutation="p.txt").content_hash == fruit_table().content_hash
    with pytest.raises(RefusedError, match=re.escape("4 rows do not fit the permutation p.txt")):
        read(b"".join([head, *rows[1:]]), permutation="p.txt")


def test_files_are_joined_in_order():
    head, *rows = FRUIT.splitlines(keepends=True)
    entry = fruit_record()
    parts = [b"".join([head, *rows[:2]]), b"".join([head, *rows[2:]])]
    assert read_table(entry, parts, entry.layout).content_hash == fruit_table().content_hash
    swapped = read_table(entry, parts[::-1], entry.layout)
    assert swapped.content_hash != fruit_table().content_hash


def test_excel():
    book = openpyxl.Workbook()
    for line in FRUIT.decode().splitlines():
        weight, colour, kind = line.split(",")
        number = re.fullmatch(r"\s*[\d.]+", weight)
        book.worksheets[0].append([float(weight) if number else weight, colour or "?", kind])
    buffer = io.BytesIO()
    book.save(buffer)
    assert read(buffer.getvalue(), reader="excel").content_hash == fruit_table().content_hash
    with pytest.raises(RefusedError, match="not a complete zip archive"):
        read(buffer.getvalue()[:100], reader="excel")


@pytest.mark.parametrize(
    ("reader", "content", "cells"),
    [
        ("splice", b"EI,  NAME-1,   CCA\nN,NAME-2,  GTD\n\n", ["EI C C A", "N G T D"]),
        ("thyroid", b"29,5,?,-[840801013]\n41,6,7,MK[840803065]\n", ["29 5 ? -", "41 6 7 MK"]),
        ("echocardiogram", b"1,2,3,4\n,4,?,6,7\n7,x,9,0\n", ["1 2 3 4", "4 ? 6 7", "7 x 9 0"]),
    ],
)
def test_readers_of_one_dataset(reader, content, cells):
    """Letters of a sequence; a patient number that is cut off; a stray leading comma."""
    layout = Layout(columns=("a", "b", "c", "d"), reader=reader)
    assert READERS[reader](content, layout).agg(" ".join, axis=1).tolist() == cells
    with pytest.raises(RefusedError, match="columns where 3"):
        READERS[reader](content, Layout(columns=("a", "b", "c"), reader=reader))


def test_a_gzip_file_is_read_as_what_it_holds():
    assert read(gzip.compress(FRUIT)).content_hash == fruit_table().content_hash
    with pytest.raises(RefusedError, match="an incomplete gzip file"):
        read(gzip.compress(FRUIT)[:-9])
    with pytest.raises(RefusedError, match="a damaged gzip file"):
        read(b"\x1f\x8b" + FRUIT)
    with pytest.raises(RefusedError, match="larger than any dataset"):
        read(gzip.compress(bytes(70 * 2**20)))


def test_every_reader_of_the_records_exists():
    def layouts(entry: Record) -> list[Layout]:
        return [entry.layout, *(source.layout for source in entry.sources)]

    used = {layout.reader for slug in all_records() for layout in layouts(record(slug))}
    assert used == set(READERS)
    permutations = {
        layout.permutation for slug in all_records() for layout in layouts(record(slug))
    }
    kept = {path.name for path in readers.PERMUTATIONS.iterdir()}
    assert permutations - {None} == kept
