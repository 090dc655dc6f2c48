"""The report: one self-contained HTML file that is a pure function of records and the paper."""
