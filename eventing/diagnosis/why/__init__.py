"""`olmf why`: from a write back to what caused it, and what an object waits for."""
