"""OperatorGroups: the namespaces they select, the APIs of their members, copies and roles in other namespaces."""
