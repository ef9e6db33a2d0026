"""Steps that reconcile ClusterCatalogs."""
