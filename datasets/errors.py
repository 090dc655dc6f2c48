"""What can go wrong between a raw file and a table, each with its remedy in the message."""

LONGEST_MESSAGE = 300


class RecordError(ValueError):
    """A dataset record says something the registry does not understand."""


class UnknownDatasetError(LookupError):
    """No dataset of that name; the message suggests the nearest ones."""


class SourceError(RuntimeError):
    """One source does not have the dataset or cannot be reached; the next one is tried."""


class RefusedError(SourceError):
    """A source has something else than the record promises: it is named and never used."""


class DatasetUnavailable(RuntimeError):  # noqa: N818  (a state of affairs, not a mistake)
    """No source delivered the dataset; the message lists why and what to do."""

    def __init__(self, name: str, failures: tuple[str, ...], remedy: str) -> None:
        tried = "\n  ".join(failures or ("no source of the chosen kinds has it",))
        super().__init__(f"{name} is not available.\n  {tried}\nRemedy: {remedy}.")
        self.failures, self.remedy = failures, remedy


class DataWarning(UserWarning):
    """Something was amiss and worked around: a changed file, a cache that cannot be written."""


def told(error: Exception) -> str:
    """An exception in one line fit for a message: no control characters, not too long."""
    text = " ".join(str(error).split()) or type(error).__name__
    tidy = "".join(letter if letter.isprintable() else "?" for letter in text)
    return tidy if len(tidy) <= LONGEST_MESSAGE else f"{tidy[: LONGEST_MESSAGE - 1]}…"
