"""The records: as the paper prints them; a wrong one harms no other."""

import re
from pathlib import Path

import pandas as pd
import pytest
from datasets_support import UNUSABLE, fruit_facts, fruit_record

from datasets import (
    DataWarning,
    RecordError,
    SourceError,
    UnknownDatasetError,
    all_records,
    broken_records,
    paper_datasets,
    record,
    registry,
    resolve,
)
from datasets.record_file import expand, parse_record
from datasets.sources import describe, packages
from datasets.sources.packages import carrier

PAPER = Path(__file__).parents[2] / "results" / "paper"
SPECS = pd.read_csv(PAPER / "dataset_specs.csv").set_index("dataset")


def test_no_record_is_broken_and_the_order_is_that_of_the_paper():
    papers = [record(slug) for slug in paper_datasets()]
    assert [entry.name for entry in papers] == list(SPECS.index)
    assert [entry.task for entry in papers] == ["binary"] * 22 + ["multi"] * 14
    assert list(all_records())[: len(papers)] == list(paper_datasets())
    assert broken_records() == {}


@pytest.mark.parametrize("slug", paper_datasets())
def test_a_record_agrees_with_the_paper(slug):
    entry = record(slug)
    printed = SPECS.loc[entry.name]
    facts = [entry.task, entry.n_features, entry.n_rows]
    assert facts == printed[["task", "n_features", "n_samples"]].tolist()
    counts = [int(count) for count in printed["samples_by_class"].split("/")]
    if slug == "echocardiogram":
        assert (counts, entry.class_counts) == ([107, 25], (108, 24))
        assert "107/25" in entry.note
    else:
        assert sorted(counts) == sorted(entry.class_counts)


@pytest.mark.parametrize("slug", all_records())
def test_a_record_is_complete(slug):
    entry = record(slug)
    assert entry.citation
    assert entry.licence
    assert entry.link.startswith("https://")
    for source in entry.sources:
        assert describe(source)
        if source.kind == "package":
            assert carrier(source.where)


def test_fresh_datasets_of_all_kinds_are_outside_the_paper():
    others = [entry for entry in all_records().values() if not entry.in_paper]
    fresh = [entry for entry in others if entry.task != "regression"]
    assert len(fresh) == 12
    kinds = {(entry.task, bool(entry.categorical)) for entry in fresh}
    assert kinds == {("binary", True), ("binary", False), ("multi", True), ("multi", False)}
    assert not {entry.content_hash for entry in fresh} & {
        record(slug).content_hash for slug in paper_datasets()
    }


def test_four_datasets_are_in_no_package():
    def packaged(slug: str) -> bool:
        return any(source.kind in ("installed", "package") for source in record(slug).sources)

    missing = {slug for slug in paper_datasets() if not packaged(slug)}
    assert missing == {"raisins", "rice", "absenteeism", "cervical-cancer"}


@pytest.mark.parametrize(
    "text", ["blood-transfusion", "Blood Transfusion", "BLOOD_TRANSFUSION", " blood  transfusion "]
)
def test_names_and_slugs_are_understood_in_any_case(text):
    assert resolve(text) == "blood-transfusion"
    assert record(text).name == "Blood Transfusion"


def test_an_unknown_name_brings_suggestions():
    with pytest.raises(UnknownDatasetError, match="did you mean titanic"):
        resolve("Titanik")
    with pytest.raises(UnknownDatasetError, match="known are blood-transfusion"):
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
def test_a_wrong_record_is_refused(changes, complaint):
    with pytest.raises(RecordError, match=re.escape(complaint)):
        fruit_record(**changes)


def test_a_missing_fact_is_named_and_ranges_are_written_out():
    facts = fruit_facts()
    del facts["licence"]
    with pytest.raises(RecordError, match="fruit: missing licence"):
        parse_record("fruit", facts)
    assert expand(["a", "pixel 8..11", "b"]) == ("a", *(f"pixel {i}" for i in range(8, 12)), "b")


# A wrong record is reported and left out, and harms no other.


WRONG = {
    "no TOML": b"name = ",
    "not UTF-8": b'name = "\xff"',
    "empty": b"",
    "deep": b"x = " + b"[" * 5000,
    "a key misspelt": b'nmae = "x"',
    "a number for a text": b"name = 5",
    "classes that are none": b"classes = 5",
}


@pytest.fixture
def records_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the suite's records that a test may spoil."""
    folder = tmp_path / "records"
    folder.mkdir()
    for path in registry.RECORDS.glob("*.toml"):
        (folder / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(registry, "RECORDS", folder)
    return folder


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_record_is_reported_and_left_out(kind, records_folder):
    (records_folder / "mine.toml").write_bytes(WRONG[kind])
    with pytest.warns(DataWarning, match="record left out: mine"):
        assert "mine" not in all_records()
    assert list(broken_records()) == ["mine"]
    assert len(paper_datasets()) == 36
    assert record("titanic").n_rows == 891
    with pytest.raises(RecordError, match="mine"):
        record("mine")
    with pytest.raises(UnknownDatasetError):
        record("mime")


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_record_that_is_no_file_is_reported_and_left_out(kind, records_folder):
    UNUSABLE[kind](records_folder / "mine.toml")
    with pytest.warns(DataWarning, match="record left out: mine"):
        assert len(paper_datasets()) == 36
    assert list(broken_records()) == ["mine"]


def test_a_broken_record_of_the_paper_leaves_the_other_35(records_folder):
    (records_folder / "wine.toml").write_bytes(b"oops")
    with pytest.warns(DataWarning, match="record left out: wine"):
        assert len(paper_datasets()) == 35


def test_nobody_enlarges_the_papers_36(records_folder):
    text = (records_folder / "wine.toml").read_text(encoding="utf-8")
    (records_folder / "wine-two.toml").write_text(text, encoding="utf-8")
    assert "wine-two" in all_records()
    assert "wine-two" not in paper_datasets()
    assert len(paper_datasets()) == 36


@pytest.mark.parametrize("slug", ["../x", "X", "a--b", "-a", "a_b", "a b", "", "a/b", ".a"])
def test_a_record_is_called_by_a_slug(slug):
    with pytest.raises(RecordError, match="lower-case words joined by hyphens"):
        parse_record(slug, fruit_facts())


@pytest.mark.parametrize("content", [b"[x]\nwheel = 5\n", b"oops", b"\xff", b"x = 5"])
def test_a_wrong_list_of_carriers_makes_its_sources_unusable(content, tmp_path, monkeypatch):
    (tmp_path / "carriers.toml").write_bytes(content)
    monkeypatch.setattr(packages, "CARRIERS", tmp_path / "carriers.toml")
    monkeypatch.setattr(packages, "_listed", packages._listed.__wrapped__)
    with pytest.raises(SourceError, match=r"carriers\.toml"):
        packages.carrier("x")
