"""Implementations of the ports: Kubernetes, images, content on disk."""
