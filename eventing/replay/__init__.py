"""Runs recorded decisions again, with the code of today."""
