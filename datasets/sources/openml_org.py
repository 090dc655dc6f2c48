"""OpenML, through the ``openml`` package, by the pinned number of a dataset."""

from __future__ import annotations

import tempfile

import pandas as pd

from datasets.errors import RefusedError, SourceError
from datasets.record import Source


def cells(source: Source) -> pd.DataFrame:
    """The table as text cells; its columns are named by their order in the source's layout."""
    try:
        import openml
    except ImportError as error:
        raise SourceError("the package openml is not installed: pip install openml") from error
    before = openml.config.get_cache_directory()
    with tempfile.TemporaryDirectory(prefix="gradtree-openml-") as folder:
        try:
            openml.config.set_root_cache_directory(folder)
            dataset = openml.datasets.get_dataset(int(source.where), download_data=True)
            frame = pd.DataFrame(dataset.get_data(dataset_format="dataframe")[0])
        except Exception as error:  # requests, openml and the ARFF reader raise all sorts
            raise SourceError(f"dataset {source.where}: {type(error).__name__}: {error}") from error
        finally:
            openml.config.set_root_cache_directory(before)
    if frame.shape[1] != len(source.layout.columns):
        raise RefusedError(
            f"{frame.shape[1]} columns where {len(source.layout.columns)} are expected"
        )
    text = frame.astype(object).where(frame.notna(), "").map(str)
    return text.set_axis(list(source.layout.columns), axis=1)
