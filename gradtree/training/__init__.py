"""Training: runs from several initial draws, the choice among them, and the finished tree."""
