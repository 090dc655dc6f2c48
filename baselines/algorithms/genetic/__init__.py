"""Decision trees bred by a genetic algorithm, as the library ``genetic-tree`` breeds them.

``estimator`` is the scikit-learn face, ``evolution`` the loop over generations and its draws.
``population`` has the trees and writes out children, from ``nodes`` and ``rows``.
"""
