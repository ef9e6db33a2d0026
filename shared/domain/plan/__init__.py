"""InstallPlans: their steps, how they are written, and how they are carried out."""
