"""OperatorGroups: which namespaces they select, what their members provide, and what other namespaces get of it."""
