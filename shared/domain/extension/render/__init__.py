"""Registry+v1 bundles as plain objects, as OLM v1 makes them (v1.md §16–18)."""
