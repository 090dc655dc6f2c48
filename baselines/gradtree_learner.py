"""GradTree as a learner of the experiments, and the two ablations of its feature selector.

All draw their initial weights and batch orders from the authors' random
streams, with which the published hyperparameters were chosen.

Two parameters are the suite's own and not the estimator's:

``noisy_prediction``
    The quirk behind the paper's column "ST Gumbel Softmax": predictions are made with Gumbel
    noise on the pruned tree, see ``baselines.algorithms.noisy_prediction``. Like all quirks
    it counts under protocol ``paper`` and its variants; elsewhere the tree predicts, as it
    always does for ``gradtree-gumbel-noise-free``. Training and tree are the same in both, and done
    once where a process fits both to a split.
``perturbation``
    The number of a perturbation: every value of the training rows is moved by one unit of
    ``float32`` up or down, to see which trials hold against that.
``perturbation_step``
    Instead of one unit of ``float32``, this share of each value: 2**-11 is the rounding of the
    TF32 arithmetic of a GPU.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.contract import Fitted, Learner, Params, Split, Task

LOSSES = {"crossentropy": "cross-entropy", "focal_crossentropy": "focal"}
TUNED_RESTARTS = 3


def defaults(task: Task, selector: str, **own: Any) -> dict[str, Any]:
    """The default experiment, whose restarts, leaf rate and loss differ between the tasks."""
    binary = task == "binary"
    return {
        "depth": 10,
        "lr_index": 0.05,
        "lr_values": 0.01,
        "lr_leaf": 0.005 if binary else 0.05,
        "loss": "cross-entropy" if binary else "focal",
        "gamma": 3.0,
        "poly_epsilon": None,
        "selector": selector,
        "batch_size": 128,
        "epochs": 10_000,
        "patience": 200,
        "restarts": 5 if binary else 3,
        "stream": "authors",
        **own,
    }


def translate(row: Mapping[str, str], task: Task) -> dict[str, Any]:
    """One row of the paper's table; its epsilon counts only where PolyLoss is on."""
    return {
        "depth": int(row["depth"]),
        "lr_index": float(row["lr_index"]),
        "lr_values": float(row["lr_values"]),
        "lr_leaf": float(row["lr_leaf"]),
        "loss": LOSSES[row["loss"]],
        "poly_epsilon": float(row["polyLossEpsilon"]) if row["polyLoss"] == "True" else None,
        "restarts": TUNED_RESTARTS,
    }


def simplify(params: Params, task: Task) -> dict[str, Any]:
    """Without PolyLoss on top of the multi-class focal loss, where its term has no gradient."""
    idle = task == "multi" and params["loss"] == "focal"
    return {**params, "poly_epsilon": None if idle else params["poly_epsilon"]}


def fit(split: Split, params: Params, seed: int) -> Fitted:
    """Train on the training part alone; the validation part decides when to stop.

    Weights of classes count for training rows; validation rows weigh the same, as they do
    where oversampling makes up for rare classes.
    """
    from baselines.algorithms.gradtree_trainings import Trainings
    from gradtree import PAPER

    # The job names what the paper's experiments vary; all else is as published, whatever the
    # estimator's own defaults are.
    settings = {**PAPER, **params, "random_state": seed}
    noisy_prediction = settings.pop("noisy_prediction", False)
    perturbation = settings.pop("perturbation", None)
    step = settings.pop("perturbation_step", None)
    X_train, trial = split.X_train, split.provenance.trial
    if perturbation is not None:
        X_train = moved(X_train, perturbation, trial, step)
    trainings = Trainings(split, params, seed)
    estimator = trainings.get(
        settings,
        (perturbation, step),
        X_train,
        split.y_train,
        sample_weight=split.weights_train,
        X_valid=split.X_valid,
        y_valid=split.y_valid,
        classes=np.arange(split.n_classes),
    )
    predictor: Any = estimator
    if noisy_prediction and split.as_authors:
        from baselines.algorithms.noisy_prediction import NoisyPrediction

        predictor = NoisyPrediction(estimator, X_train, (seed, trial))
    tree = estimator.tree_
    return Fitted(
        predictor,
        X_train,
        split.y_train,
        tree,
        tree.node_count,
        estimator.n_epochs_,
        shared_seconds=trainings.saved,
    )


def moved(
    X: NDArray[np.float64], number: int, trial: int, step: float | None = None
) -> NDArray[np.float64]:
    """The values as training sees them, each moved up or down at random.

    To its ``float32`` neighbour or, with ``step``, by that share of itself.
    """
    upwards = np.random.default_rng([number, trial]).random(X.shape) < 0.5
    if step is not None:
        return np.asarray(X * np.where(upwards, 1 + step, 1 - step))
    direction = np.where(upwards, np.float32(np.inf), np.float32(-np.inf))
    return np.nextafter(X.astype(np.float32), direction).astype(np.float64)


def variant(
    slug: str, name: str, selector: str, version: str = "1", family: str | None = None, **own: Any
) -> Learner:
    return Learner(
        slug=slug,
        in_paper=True,
        name=name,
        version=version,
        family=family,
        defaults=partial(defaults, selector=selector, **own),
        fit=fit,
        group="Gradient-based",
        takes_weights=True,
        published="hyperparameters_gradtree.csv",
        translate=translate,
        # The paper's grid is unpublished: these are the values that occur among its 36 winners.
        space={
            "depth": (7, 8, 9, 10),
            "lr_index": (0.005, 0.01, 0.05, 0.25),
            "lr_values": (0.005, 0.01, 0.05, 0.1, 0.25),
            "lr_leaf": (0.005, 0.01, 0.05, 0.1, 0.2),
            "loss": ("cross-entropy", "focal"),
            "poly_epsilon": (None, 2.0, 5.0),
        },
        simplify=simplify,
    )


LEARNERS = (
    variant("gradtree", "GradTree", "entmax"),
    variant("gradtree-gumbel", "ST Gumbel Softmax", "gumbel", "2", "gumbel", noisy_prediction=True),
    variant(
        "gradtree-gumbel-noise-free", "ST Gumbel Softmax (noise-free)", "gumbel", family="gumbel"
    ),
    variant("gradtree-annealed", "Temperature Annealing", "annealed"),
)
