"""The sentences of the paper's results section, each checked on our tables and on its own."""

from experiments.claims import performance, trees
from experiments.claims.checking import SENTENCES, Evidence, UndecidedError, check_claims

__all__ = ["SENTENCES", "Evidence", "UndecidedError", "check_claims", "performance", "trees"]
