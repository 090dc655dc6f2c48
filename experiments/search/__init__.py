"""The hyperparameter search: the paper's random search, and TPE with pruning beyond it.

The paper's grids are not published. The spaces, declared beside each learner,
are the values that occur among its 36 published winners.
"""
