"""How a dataset becomes train, validation and test parts: as in the paper, or cleanly.

Names and versions are known without importing what the protocols need.
"""

from __future__ import annotations

import difflib
import importlib
from typing import TYPE_CHECKING

from datasets.protocols.declared import DECLARED, Protocol

if TYPE_CHECKING:
    from datasets.split import Split
    from datasets.table import Dataset

PROTOCOLS = {known.name: known for known in DECLARED}


def protocol(name: str) -> Protocol:
    """The protocol of that name; an unknown one is a ``ValueError`` that lists the known."""
    if name not in PROTOCOLS:
        near = difflib.get_close_matches(name, PROTOCOLS, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ValueError(f"no protocol {name!r}; {hint}known are {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]


_resolve = protocol


def make_split(dataset: Dataset, protocol: str, trial: int) -> Split:
    """Split and prepare a dataset for one trial of a protocol.

    Parameters
    ----------
    dataset : as ``load_dataset`` or ``from_table`` gives it.
    protocol : one of ``PROTOCOLS``, by name.
    trial : 0 to 9 in the paper; the seed of the parts is 42 + trial.
    """
    chosen = _resolve(protocol)
    module = importlib.import_module(f"{__name__}.{chosen.base}")
    variant = [] if chosen.name == chosen.base else [chosen]
    split: Split = module.split(dataset, trial, *variant)
    return split
