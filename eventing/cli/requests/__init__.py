"""Packages as a person sees them: ask for one, follow it, list them; all of it through the Kubernetes API."""
