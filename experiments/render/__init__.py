"""Tables, pictures and the report: what people see of the analysis."""
