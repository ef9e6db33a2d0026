"""Steps that reconcile ClusterExtensions."""
