"""What OLM v1 decides about a ClusterExtension; see the README."""
