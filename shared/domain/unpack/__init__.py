"""Getting a bundle's manifests out of its image: the objects that do it, which Job counts, and what its state means."""
