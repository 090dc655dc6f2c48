"""Decision trees bred by a genetic algorithm, as the library ``genetic-tree`` breeds them.

``estimator`` is the scikit-learn face, ``evolution`` the loop over generations and its draws.
``growing`` has the trees, scores children by what is new in them and writes out those that become
parents; ``nodes`` and ``rows`` have what it works on.
"""
