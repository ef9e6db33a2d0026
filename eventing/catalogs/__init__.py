"""Serves ClusterCatalogs over HTTP (v1.md §6)."""
