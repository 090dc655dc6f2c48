"""The scikit-learn style estimators that the learners of ``baselines`` wrap."""
