"""What there is to do: jobs, the catalogue and the profiles that list them, plans and estimates."""
