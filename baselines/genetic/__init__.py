"""Decision trees bred by a genetic algorithm, as the library ``genetic-tree`` breeds them.

``estimator`` is the scikit-learn face, ``evolution`` the loop over generations,
``quirks`` what the original does that its documentation does not say. The
others are compiled kernels: ``rows`` scores trees on bit sets of training rows,
``nodes`` copies and grafts subtrees, ``breeding`` makes a generation from the
last, ``jkiss`` is the random generator that every tree carries. Numba's cache of
them notices an edit in the edited file alone, so delete ``__pycache__`` here
after changing a kernel that another file calls.
"""
