"""What people see of a run: a live picture on a terminal, timestamped lines elsewhere."""
