"""Remembers every event and every run: what each step was told, what it decided, what the API server answered."""
