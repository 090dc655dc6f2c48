"""Jobs, the supervised runner, the store, tables, verdicts and the report."""
