"""Steps that look after CatalogSources."""
