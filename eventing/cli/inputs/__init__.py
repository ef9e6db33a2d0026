"""What verbs of catalogs, bundles and extensions read, with the same flags and failures."""
