"""OperatorGroups: the namespaces they select, the APIs their members provide, and who may use them."""
