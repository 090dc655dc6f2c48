"""How a dataset becomes train, validation and test parts: as in the paper, or cleanly."""

from datasets.dataset import Dataset
from datasets.protocols.base import Protocol
from datasets.protocols.clean import CLEAN
from datasets.protocols.paper import PAPER
from datasets.split import Split

PROTOCOLS: dict[str, Protocol] = {protocol.name: protocol for protocol in (PAPER, CLEAN)}

__all__ = ["PROTOCOLS", "Protocol", "make_split"]


def make_split(dataset: Dataset, protocol: str, trial: int) -> Split:
    """Split and prepare a dataset for one trial of a protocol ("paper" or "clean")."""
    if protocol not in PROTOCOLS:
        raise ValueError(f"no protocol {protocol!r}; known are {', '.join(PROTOCOLS)}")
    return PROTOCOLS[protocol].split(dataset, trial)
