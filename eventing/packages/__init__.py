"""Serves PackageManifests, an aggregated API: what the catalogs of a cluster have (csv.md §13)."""
