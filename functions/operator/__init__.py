"""Steps that reconcile Operators: what belongs to one package in one namespace."""
