"""The sentences of the paper's results section, each checked on our tables and on its own."""

from experiments.analysis.claims import scores, trees
from experiments.analysis.claims.checking import SENTENCES, Evidence, UndecidedError, check_claims

__all__ = ["SENTENCES", "Evidence", "UndecidedError", "check_claims", "scores", "trees"]
