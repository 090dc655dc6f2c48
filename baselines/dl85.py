"""DL8.5: the optimal tree of depth 4 over binarised features.

Protocol ``paper`` does two things as the authors did, which other protocols do
not: it makes the bins from all rows, those of the test part included (a quirk
that one of its variants replaces), and gives the solver class numbers with gaps
where a class has no training row. There is nothing to tune, so the tuned
experiment uses the same parameters.

``dl85`` searches with the kernels of ``baselines.algorithms.branch_and_bound``, the
others with libraries, to check and to time the former: pydl8.5, pytrees-rs, STreeD.
"""

from functools import partial
from typing import Any

import numpy as np

from baselines.contract import Fitted, Learner, Params, Split, Task


def defaults(task: Task) -> dict[str, Any]:
    return {"max_depth": 4, "min_sup": 1, "time_limit": None}


def fit(split: Split, params: Params, seed: int, solver: str) -> Fitted:
    from baselines.algorithms.dl85 import DL85Classifier

    X, y = split.X_train_valid, split.y_train_valid
    estimator = DL85Classifier(
        **params, solver=solver, renumber=not split.as_authors, random_state=seed
    )
    bins = np.concatenate([X, split.X_test]) if split.bins_from_test else None
    estimator.fit(X, y, np.arange(split.n_classes), bins)
    extra = {"errors": estimator.error_}
    return Fitted(estimator, X, y, estimator.tree_, estimator.size_, extra=extra)


def variant(slug: str, name: str, solver: str, version: str = "1", **own: Any) -> Learner:
    fit_by = partial(fit, solver=solver)
    return Learner(slug, name, version, defaults, fit_by, in_paper=True, **own)


LEARNERS = (
    variant("dl85", "DL8.5", "compiled", "2", group="Non-greedy"),
    # Without distutils (Python 3.12 and later, no setuptools) pydl8.5 cannot be imported.
    variant("dl85-original", "DL8.5 by pydl8.5", "pydl8.5", needs=("pydl85", "distutils")),
    variant(
        "dl85-pytrees", "DL8.5 by pytrees-rs", "pytrees-rs", needs=("pytrees",), installs="solvers"
    ),
    variant("dl85-streed", "DL8.5 by STreeD", "streed", needs=("pystreed",)),
)
