"""Questions in GraphQL about a served catalog (v1.md §7)."""
