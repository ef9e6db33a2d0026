"""Reads and serves the content of images: the limits of pulls, the program of an unpack Job, a catalog's server."""
