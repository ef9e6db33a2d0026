"""The revisions of OLM v1: objects in phases, packed into Secrets, probed, and taken over with care (v1.md §21)."""
