"""File-based catalogs: their documents, model and update graph."""
