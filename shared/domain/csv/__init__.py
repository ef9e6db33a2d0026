"""The life of a ClusterServiceVersion: its requirements, its Deployments and RBAC, and its phase."""
