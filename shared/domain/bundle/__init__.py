"""registry+v1 bundles: their files, their properties, and the ConfigMap they are unpacked into."""
