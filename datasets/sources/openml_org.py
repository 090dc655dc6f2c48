"""OpenML, through the ``openml`` package, by the pinned number of a dataset."""

import tempfile
import textwrap

import pandas as pd

from datasets.errors import RefusedError, SourceError
from datasets.record import Source

ATTEMPTS = 3


_silent: list[Exception] = []
"""Filled once the server could not be reached in this process; it is not waited for again."""


def cells(source: Source) -> pd.DataFrame:
    """The table as text cells; its columns are named by their order in the source's layout."""
    frame = _frame(int(source.where))
    columns = source.layout.columns
    if frame.shape[1] != len(columns):
        raise RefusedError(f"{frame.shape[1]} columns where {len(columns)} are expected")
    text = frame.astype(object).where(frame.notna(), "").map(str)
    return text.set_axis(list(columns), axis=1)


def _frame(number: int) -> pd.DataFrame:
    try:
        import openml
        import requests
    except ImportError as error:
        raise SourceError("the package openml is not installed: pip install openml") from error
    if _silent:
        raise SourceError("not tried: the server could not be reached before")
    problem: Exception
    with tempfile.TemporaryDirectory(prefix="gradtree-openml-") as folder:
        settings = {"cachedir": folder, "connection_n_retries": ATTEMPTS}
        # The settings are restored only if nothing is raised inside the block.
        with openml.config.overwrite_config_context(settings):
            try:
                dataset = openml.datasets.get_dataset(number, download_data=True)
                return pd.DataFrame(dataset.get_data(dataset_format="dataframe")[0])
            except Exception as error:  # requests, openml and the readers raise all sorts
                problem = error
    if isinstance(problem, ConnectionError | requests.ConnectionError | requests.Timeout):
        _silent.append(problem)
    reason = textwrap.shorten(f"{type(problem).__name__}: {problem}", 160)
    raise SourceError(f"dataset {number} cannot be fetched: {reason}")
