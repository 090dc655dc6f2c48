"""Columns of a table: read from any kind of frame, described, and coded as numbers."""
