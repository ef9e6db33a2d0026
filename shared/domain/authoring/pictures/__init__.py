"""The update graph as a picture."""
