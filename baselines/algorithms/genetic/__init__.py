"""Decision trees bred by a genetic algorithm, as the library ``genetic-tree`` breeds them.

``estimator`` is the scikit-learn face, ``evolution`` the loop over generations,
``settings`` also what the original does that its documentation does not say,
``breeding`` makes its draws, ``jkiss`` is the random generator that every tree
carries. ``judging`` scores children by what is new in them, ``growing`` writes out
those that become parents, ``nodes`` and ``rows`` have the surgery on trees and the
bit sets of training rows for both; ``canonical`` is the tree that is handed out.
"""
