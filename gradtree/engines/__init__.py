"""The two ways to train: ``compiled`` (Numba, the default) and ``reference`` (TensorFlow)."""
