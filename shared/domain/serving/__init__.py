"""The messages of the registry API, made from a catalog and read from a server."""
