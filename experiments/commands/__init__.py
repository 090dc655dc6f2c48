"""One module per verb of ``python -m experiments``; each offers ``register(verbs)``."""
