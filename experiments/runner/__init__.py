"""Planning jobs and doing them, here or on a cluster."""
