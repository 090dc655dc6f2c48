"""The tree itself: dense while it trains, then pruned to the flat arrays that predict."""
