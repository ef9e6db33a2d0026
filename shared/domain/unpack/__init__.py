"""Unpacking of bundle images: the objects for it, the choice of the Job, and the meaning of its state."""
