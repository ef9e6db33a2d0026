"""Reads the catalogs of other servers of the registry API (gRPC)."""
