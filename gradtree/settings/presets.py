"""The parameters of the published experiments, all of them, whatever the defaults are today."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

PAPER: Mapping[str, Any] = MappingProxyType(
    {
        "depth": 10,
        "max_depth": None,
        "lr_index": 0.05,
        "lr_values": 0.01,
        "lr_leaf": "auto",
        "loss": "auto",
        "gamma": 3.0,
        "poly_epsilon": None,
        "selector": "entmax",
        "split": "sigmoid",
        "steepness": 1.0,
        "first_thresholds": "glorot",
        "batch_size": 128,
        "epochs": 10_000,
        "patience": 200,
        "max_row_visits": None,
        "restarts": "auto",
        "choose_by": "loss",
        "tolerance": 0.0,
        "validation_fraction": 0.2,
        "scale": None,
        "categorical_features": "from_dtype",
        "refit_leaves": False,
        "leaf_smoothing": 1.0,
        "probabilities": "weighted",
        "min_samples_leaf": 1,
        "polish": False,
        "merge_leaves": False,
        "criterion": "gini",
        "ccp_alpha": 0.0,
        "max_leaf_nodes": None,
        "engine": "compiled",
        "stream": "authors",
        "class_weight": None,
        "dtype": "float32",
    }
)
"""Parameters of ``GradTreeClassifier`` with which the paper's default experiment was run.

``GradTreeClassifier(**gradtree.PAPER, random_state=42)`` on scaled columns repeats it. With
``"auto"`` the leaf rate, the loss and the restarts are those of the task: 0.005, cross-entropy and
5 for two classes; 0.05, focal and 3 for more.
"""
