"""Where jobs run: in this process, in supervised workers, or on a Dask cluster."""
