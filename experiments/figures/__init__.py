"""Figures of the suite: one module each, a plain function of data that returns a ``Figure``."""
