"""Whether stored objects and clients survive a new version of a CustomResourceDefinition (v1.md §19, §30)."""
