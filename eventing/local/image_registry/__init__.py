"""A registry on loopback that serves folders as images, read-only; what changes in a folder is served at once."""

from eventing.local.image_registry.repository_index import RepositoryIndex, Sources, name_of
from eventing.local.image_registry.server import serve, server_of

__all__ = ["RepositoryIndex", "Sources", "name_of", "serve", "server_of"]
