"""From records and the paper's numbers to cells, ranks, statistics, verdicts and claims."""
