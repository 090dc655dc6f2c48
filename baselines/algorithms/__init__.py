"""What the learners of ``baselines`` wrap: scikit-learn style estimators and their searches.

``dl85`` and ``searched`` search trees over yes/no columns (``binarise``, ``yes_no_tree``) by
``solvers``, of which our own has its kernels in ``branch_and_bound``; ``genetic`` breeds trees;
``dndt`` trains one by gradient descent.
"""

DNDT_MOST_FEATURES = 12
"""DNDT keeps 2^n leaves for n features. Known here without importing what trains it."""
