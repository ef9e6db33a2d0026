"""What people ask of the cluster, the journal and captures: reads, never writes."""
