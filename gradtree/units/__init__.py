"""Splits in the user's own units: back through the preprocessing to the raw columns."""
