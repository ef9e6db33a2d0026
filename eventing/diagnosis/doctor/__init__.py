"""What in a cluster is in a state that will hurt the installation of operators, each with its fix."""
