"""Reads the cluster in the middle of a decision, where what is read next depends on what was read before."""
