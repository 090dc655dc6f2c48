"""What a run is, and where runs are kept."""
