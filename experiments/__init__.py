"""The suite: plan and run jobs, keep their runs in one table, answer questions from it."""
