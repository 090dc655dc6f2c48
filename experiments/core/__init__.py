"""The nouns that everyone may know: job, record, limits, store, text."""
