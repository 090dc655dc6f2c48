"""The records: complete, consistent, and the paper's 36 in agreement with its table."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from datasets_support import fruit_facts, fruit_record

from datasets import (
    RecordError,
    UnknownDatasetError,
    all_records,
    broken_records,
    paper_datasets,
    record,
    resolve,
)
from datasets.record_file import expand, parse_record, read_record
from datasets.sources import describe
from datasets.sources.packages import carriers

SPECS = Path(__file__).parents[2] / "results" / "paper" / "dataset_specs.csv"


def specs() -> dict[str, dict[str, str]]:
    with SPECS.open(encoding="utf-8", newline="") as file:
        return {row["dataset"]: row for row in csv.DictReader(file)}


def test_the_order_is_that_of_the_paper() -> None:
    papers = [record(slug) for slug in paper_datasets()]
    assert [entry.name for entry in papers] == list(specs())
    assert [entry.task for entry in papers] == ["binary"] * 22 + ["multi"] * 14
    assert list(all_records())[: len(papers)] == list(paper_datasets())


@pytest.mark.parametrize("slug", paper_datasets())
def test_a_record_agrees_with_the_paper(slug: str) -> None:
    entry = record(slug)
    printed = specs()[entry.name]
    assert (entry.task, entry.n_features, entry.n_rows) == (
        printed["task"],
        int(printed["n_features"]),
        int(printed["n_samples"]),
    )
    counts = [int(count) for count in printed["samples_by_class"].split("/")]
    if slug == "echocardiogram":
        assert (counts, entry.class_counts) == ([107, 25], (108, 24))
        assert "107/25" in entry.note
    else:
        assert sorted(counts) == sorted(entry.class_counts)


def test_no_record_is_broken() -> None:
    assert broken_records() == {}


@pytest.mark.parametrize("slug", all_records())
def test_a_record_is_complete(slug: str) -> None:
    entry = record(slug)
    assert entry.citation
    assert entry.licence
    assert entry.link.startswith("https://")
    for source in entry.sources:
        assert describe(source)
        assert source.exercised == (source.kind in ("installed", "package"))
        if source.kind == "package":
            assert source.where in carriers()


def test_fresh_datasets_of_all_kinds_are_outside_the_paper() -> None:
    others = [entry for entry in all_records().values() if not entry.in_paper]
    fresh = [entry for entry in others if entry.task != "regression"]
    assert len(fresh) == 12
    kinds = {(entry.task, bool(entry.categorical)) for entry in fresh}
    assert kinds == {("binary", True), ("binary", False), ("multi", True), ("multi", False)}
    assert not {entry.content_hash for entry in fresh} & {
        record(slug).content_hash for slug in paper_datasets()
    }


def test_four_datasets_are_in_no_package() -> None:
    def packaged(slug: str) -> bool:
        return any(source.kind in ("installed", "package") for source in record(slug).sources)

    missing = {slug for slug in paper_datasets() if not packaged(slug)}
    assert missing == {"raisins", "rice", "absenteeism", "cervical-cancer"}


@pytest.mark.parametrize(
    "text", ["blood-transfusion", "Blood Transfusion", "BLOOD_TRANSFUSION", " blood  transfusion "]
)
def test_names_and_slugs_are_understood_in_any_case(text: str) -> None:
    assert resolve(text) == "blood-transfusion"
    assert record(text).name == "Blood Transfusion"


def test_an_unknown_name_brings_suggestions() -> None:
    with pytest.raises(UnknownDatasetError, match="did you mean titanic"):
        resolve("Titanik")
    with pytest.raises(KeyError, match="known are blood-transfusion"):
        resolve("xyz")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"colums": []}, "unknown key 'colums'; did you mean 'columns'"),
        ({"classes": [{"name": "apple", "row": 3}]}, "classes: unknown key 'row'"),
        ({"sources": [{"kind": "uci", "where": "1/x", "url": ""}]}, "sources: unknown key 'url'"),
        ({"sources": [{"kind": "ftp", "where": "1/x"}]}, "'ftp' is none of installed"),
        ({"task": "ranking"}, "'ranking' is none of binary, multi, regression"),
        ({"task": "regression"}, "2 classes in a regression task"),
        ({"classes": []}, "0 classes in a binary task"),
        ({"n_features": 3}, "2 features named, 3 expected"),
        ({"n_rows": 6}, "classes add up to 5 rows, not 6"),
        ({"task": "multi"}, "2 classes in a multi task"),
        ({"categorical": ["color"]}, "no column color"),
        ({"label": "sort"}, "no column sort"),
        ({"numeric": ["weight"]}, "either categorical or numeric"),
        ({"sources": [{"kind": "uci", "where": "1/x", "columns": ["kind"]}]}, "no column colour"),
    ],
)
def test_a_wrong_record_is_refused(changes: dict[str, object], complaint: str) -> None:
    with pytest.raises(RecordError, match=re.escape(complaint)):
        fruit_record(**changes)


def test_a_missing_fact_is_named() -> None:
    facts = fruit_facts()
    del facts["licence"]
    with pytest.raises(RecordError, match="fruit: missing licence"):
        parse_record("fruit", facts)


def test_broken_toml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "fruit.toml"
    path.write_text("name = ", encoding="utf-8")
    with pytest.raises(RecordError, match=re.escape("fruit.toml")):
        read_record(path)


def test_ranges_are_written_out() -> None:
    assert expand(["a", "pixel 8..11", "b"]) == ("a", *(f"pixel {i}" for i in range(8, 12)), "b")
