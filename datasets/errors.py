"""What can go wrong between a raw file and a table, each with its remedy in the message."""

from __future__ import annotations


class RecordError(ValueError):
    """A dataset record says something the registry does not understand."""


class UnknownDataset(KeyError):
    """No dataset of that name; the message suggests the nearest ones."""

    def __str__(self) -> str:
        return str(self.args[0])


class SourceError(RuntimeError):
    """One source could not deliver; the next one is tried."""


class Refused(SourceError):
    """A source delivered something else than the record promises: named, never used."""


class DatasetUnavailable(RuntimeError):
    """No source delivered the dataset; the message lists why and what to do."""
