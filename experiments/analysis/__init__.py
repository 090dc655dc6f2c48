"""Runs and printed numbers as pandas frames; one file per question of the results."""
