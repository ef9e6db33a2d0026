"""Steps about one ClusterServiceVersion: its phases, its copies, its condition."""
