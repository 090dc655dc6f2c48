"""The paper's tables from run records: cells, ranks and summaries, as CSV and LaTeX."""
