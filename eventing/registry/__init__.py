"""A registry on loopback that serves folders as images, read-only; what changes in a folder is served at once."""

from eventing.registry.server import running, serve
from eventing.registry.shelf import Shelf, Sources

__all__ = ["Shelf", "Sources", "running", "serve"]
