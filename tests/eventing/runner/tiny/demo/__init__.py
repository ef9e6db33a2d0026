"""One group."""
