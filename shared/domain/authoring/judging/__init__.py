"""Whether a catalog is right, what is unwise in it, and what changes against another one."""
