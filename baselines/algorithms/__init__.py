"""What the learners of ``baselines`` wrap: scikit-learn style estimators and their searches.

``dl85`` and ``optimal_tree`` search trees over yes/no columns (``searched``,
``binarise``, ``yes_no_tree``), the first with the kernels of
``branch_and_bound``; ``genetic`` breeds trees; ``dndt`` trains one by gradient descent.
"""

DNDT_MOST_FEATURES = 12
"""DNDT keeps 2^n leaves for n features. Known here without importing what trains it."""
