"""Our figures beside the paper's: the printed numbers, the tests, a verdict on every cell."""
