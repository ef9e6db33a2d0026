"""Bundles for their authors: labels, images, as a blob of a catalog, and what installing one creates."""
