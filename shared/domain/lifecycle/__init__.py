"""The life of a ClusterServiceVersion: what it needs, what is installed for it, and which phase it is in."""
