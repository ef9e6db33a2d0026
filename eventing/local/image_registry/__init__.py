"""A registry on loopback that serves folders as images, read-only; what changes in a folder is served at once."""

from eventing.local.image_registry.server import serve, server_of
from eventing.local.image_registry.shelf import Shelf, Sources, name_of

__all__ = ["Shelf", "Sources", "name_of", "serve", "server_of"]
