"""Steps that reconcile one ClusterServiceVersion: its phases, its copies, its OperatorCondition."""
