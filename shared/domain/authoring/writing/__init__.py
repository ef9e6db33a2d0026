"""Catalogs as text, byte for byte as the Go tools write them."""
