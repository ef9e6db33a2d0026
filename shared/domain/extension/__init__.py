"""What OLM v1 decides: which bundle a ClusterExtension gets, and why (v1.md §13, §14)."""
