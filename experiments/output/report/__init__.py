"""One self-contained HTML page with every answer, table, cell, tree and failed run."""
