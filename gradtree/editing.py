"""A fitted tree made smaller or corrected by hand, without another training."""

from __future__ import annotations

from gradtree.predicting import TreePredictor
from gradtree.settings.config import FinishConfig
from gradtree.training.finishing import Grown
from gradtree.trees.simplify import PruningPath


class EditableTree(TreePredictor):
    """A classifier whose ``tree_`` can be changed after ``fit``."""

    _grown: Grown
    _finish: FinishConfig

    @property
    def path_(self) -> PruningPath:
        """Prices of leaves at which the fitted tree shrinks; see ``ccp_alpha``."""
        return self._grown.path(self._finish)
