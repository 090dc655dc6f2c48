"""What can be chosen about a training: its numbers, losses, selectors, splits, random draws."""
