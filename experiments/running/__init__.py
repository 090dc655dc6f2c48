"""Doing jobs: the session that drives them, and what happens with one inside a worker."""
