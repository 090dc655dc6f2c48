"""Hard, axis-aligned decision trees, learned by gradient descent.

Names are imported when they are first used, so that ``import gradtree`` itself
takes no time and needs no scikit-learn, Numba, pandas, matplotlib or TensorFlow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradtree.cart import CartClassifier as CartClassifier
    from gradtree.cart import CartRegressor as CartRegressor
    from gradtree.classifier import GradTreeClassifier as GradTreeClassifier
    from gradtree.regressor import GradTreeRegressor as GradTreeRegressor
    from gradtree.settings.losses import CustomLoss as CustomLoss
    from gradtree.settings.losses import Loss as Loss
    from gradtree.settings.presets import PAPER as PAPER
    from gradtree.settings.selectors import Selector as Selector
    from gradtree.small_tree import SmallTreeClassifier as SmallTreeClassifier
    from gradtree.small_tree import SmallTreeRegressor as SmallTreeRegressor
    from gradtree.table import TabularGradTree as TabularGradTree
    from gradtree.table import fit_table as fit_table
    from gradtree.trees.regression_tree import RegressionTree as RegressionTree
    from gradtree.trees.tree import Tree as Tree
    from gradtree.views.code import export_python as export_python
    from gradtree.views.code import export_sql as export_sql
    from gradtree.views.export import export_graphviz as export_graphviz
    from gradtree.views.export import export_text as export_text
    from gradtree.views.plot import export_svg as export_svg
    from gradtree.views.plot import plot_history as plot_history
    from gradtree.views.plot import plot_tree as plot_tree
    from gradtree.views.rules import Rule as Rule
    from gradtree.views.rules import decision_rules as decision_rules

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
