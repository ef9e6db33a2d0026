"""Steps that reconcile CatalogSources."""
