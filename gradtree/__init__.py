"""Hard, axis-aligned decision trees, learned by gradient descent.

Names are imported when they are first used, so that ``import gradtree`` itself
takes no time and needs no scikit-learn, Numba, pandas, matplotlib or TensorFlow.
"""

# ruff: noqa: F401 (what the checker of types imports is imported on first use)

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradtree.cart import CartClassifier, CartRegressor
    from gradtree.classifier import GradTreeClassifier
    from gradtree.regressor import GradTreeRegressor
    from gradtree.settings.losses import CustomLoss, Loss
    from gradtree.settings.presets import PAPER
    from gradtree.settings.selectors import Selector
    from gradtree.small_tree import SmallTreeClassifier, SmallTreeRegressor
    from gradtree.table import TabularGradTree, fit_table
    from gradtree.trees.regression_tree import RegressionTree
    from gradtree.trees.tree import Tree
    from gradtree.views.code import export_python, export_sql
    from gradtree.views.export import export_graphviz, export_text
    from gradtree.views.plot import export_svg, plot_history, plot_tree
    from gradtree.views.rules import Rule, decision_rules

__version__ = "0.1.0"

_NAMES = {
    "cart": ("CartClassifier", "CartRegressor"),
    "classifier": ("GradTreeClassifier",),
    "regressor": ("GradTreeRegressor",),
    "settings.losses": ("CustomLoss", "Loss"),
    "settings.presets": ("PAPER",),
    "settings.selectors": ("Selector",),
    "small_tree": ("SmallTreeClassifier", "SmallTreeRegressor"),
    "table": ("TabularGradTree", "fit_table"),
    "trees.regression_tree": ("RegressionTree",),
    "trees.tree": ("Tree",),
    "views.code": ("export_python", "export_sql"),
    "views.export": ("export_graphviz", "export_text"),
    "views.plot": ("export_svg", "plot_history", "plot_tree"),
    "views.rules": ("Rule", "decision_rules"),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'gradtree' has no attribute {name!r}")
    value = getattr(import_module(f"gradtree.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
