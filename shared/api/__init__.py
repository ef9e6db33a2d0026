"""Models of every custom resource this project speaks."""
