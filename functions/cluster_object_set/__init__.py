"""Steps that reconcile ClusterObjectSets."""
