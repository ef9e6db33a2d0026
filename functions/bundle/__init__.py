"""Steps that get bundles out of their images."""
