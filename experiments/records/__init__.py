"""What jobs leave behind: run records, their predictions and trees, and the store on disk."""
