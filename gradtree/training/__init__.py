"""Training: its settings, losses, selectors and random draws, and the runs of which one is kept."""
