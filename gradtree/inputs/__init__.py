"""What users pass to an estimator, read and checked: parameters, arrays, columns of raw tables."""
