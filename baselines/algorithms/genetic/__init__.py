"""Decision trees bred by a genetic algorithm, as the library ``genetic-tree`` breeds them.

``estimator`` is the scikit-learn face, ``evolution`` the loop over generations and its draws.
``growing`` writes out the children; ``population``, ``nodes`` and ``rows`` have what it works on.
"""
