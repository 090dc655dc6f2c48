"""The real package index: all but four datasets with no mirror and an empty cache."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest

from datasets import DatasetUnavailable, all_records, load_dataset, record
from datasets.sources.packages import carriers

pytestmark = pytest.mark.network


def site_packages() -> set[str]:
    return {path.name for path in Path(sysconfig.get_paths()["purelib"]).iterdir()}


def test_all_but_four_datasets_come_from_packages_that_are_not_installed(tmp_path: Path) -> None:
    before = set(sys.modules)
    installed = site_packages()
    missing = []
    for slug in all_records():
        try:
            loaded = load_dataset(slug, cache=tmp_path, sources=["installed", "package"])
        except DatasetUnavailable:
            missing.append(slug)
            continue
        assert loaded.source.startswith(("installed sklearn", "package "))
        assert loaded.table.content_hash == record(slug).content_hash
    assert missing == ["raisins", "rice", "absenteeism", "cervical-cancer"]
    carried = {carrier.wheel.split("-")[0].lower() for carrier in carriers().values()}
    assert not carried & {name.partition(".")[0].lower() for name in set(sys.modules) - before}
    assert site_packages() == installed
