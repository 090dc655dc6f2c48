"""Figures drawn with Matplotlib from plain data."""
