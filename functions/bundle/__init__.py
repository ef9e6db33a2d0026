"""Steps that unpack bundle images."""
