"""InstallPlans: their steps, their creation, and their execution."""
