"""A file that has no function of its name."""
